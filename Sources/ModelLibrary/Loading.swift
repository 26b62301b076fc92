import Blocking
import Inference
import Names

/// A version that does not work here, and what those who ask for it are told.
struct Unfit: Error {
    let error: any Error
    let reason: String

    init(_ error: any Error, _ reason: String) {
        self.error = error
        self.reason = reason
    }
}

extension ModelLibrary {
    /// Starts the one load of `key`.
    ///
    /// The task belongs to no caller on purpose: it goes on when a caller is cancelled.
    func startLoading(_ key: LoadKey, _ look: Look, _ request: ModelRequest) {
        let ticket = turn.ticket()
        loads[key] = LoadInProgress(
            stamp: look.stamp,
            ticket: ticket,
            look: look.number,
            request: request
        )
        Task { await load(key, ticket) }
    }

    private func load(_ key: LoadKey, _ ticket: LoadTurn.Ticket) async {
        let asked = clock.now
        await readRecord()
        await take(ticket, key)
        var outcome: Result<Resident, any Error>
        var tried: ModelPriority
        repeat {
            tried = priority(of: key)
            do {
                let prepared = try await prepared(key)
                if configuration.swap == .oldFirst {
                    await free { $0.retireOthers(of: key, evenIfStanding: true) }
                }
                try await makeRoom(for: prepared, ticket)
                loads[key]?.bytes = prepared.need
                outcome = .success(try await loaded(prepared, waitedSince: asked))
            } catch {
                outcome = .failure(error)
            }
            // Who joined meanwhile may make others go, where those before might not.
        } while outcome.isForLackOfRoom && priority(of: key) > tried
        pass(ticket)
        if case .failure(let unfit as Unfit) = outcome {
            // What fails on one kind of processor may well run on another, which a ladder then asks for.
            let isGeneral = key.options.compute == .any || key.options.compute == .cpu
            outcome = .failure(isGeneral ? await condemn(key.version, unfit) : unfit.error)
        }
        settle(key, outcome)
    }

    /// Everything that is known before memory is touched.
    struct Prepared: Sendable {
        let key: LoadKey
        let opened: OpenedModel
        let runtime: any ModelRuntime
        let circumstances: MemoryCosts.Circumstances
        let need: UInt64
    }

    private func prepared(_ key: LoadKey) async throws -> Prepared {
        let source = source
        let version = key.version
        let opened = try await LibraryThreads.files.run { () throws(ModelLibraryError) in
            try source.open(version)
        }
        guard let opened else { throw Superseded() }
        let able = runtimes.filter { $0.runs(format: opened.format) }
        guard let first = able.first else {
            throw ModelLibraryError.noRuntime(
                model: version.modelText,
                version: version.versionText,
                format: opened.format
            )
        }
        if let verdict = opened.verdict { throw Unfit(version.refused(verdict), verdict) }
        let compute = key.options.compute
        guard let runtime = able.first(where: { compute == .any || $0.processors.contains(compute) }) else {
            throw ModelLibraryError.noProcessor(
                model: version.modelText,
                version: version.versionText,
                runtime: "\(first.name) \(first.version)",
                wanted: compute.rawValue
            )
        }
        let circumstances = MemoryCosts.Circumstances(
            manifest: version.manifest,
            runtime: "\(runtime.name) \(runtime.version)",
            options: key.options.description
        )
        return Prepared(
            key: key,
            opened: opened,
            runtime: runtime,
            circumstances: circumstances,
            need: costs.estimate(opened, in: circumstances)
        )
    }

    private func loaded(_ prepared: Prepared, waitedSince asked: Duration) async throws -> Resident {
        let (version, opened) = (prepared.key.version, prepared.opened)
        let note = opened.note
        let began = clock.now
        let departures = turn.departures
        await LibraryThreads.files.run { note?.begin() }
        let before = await footprint()
        let model: any LoadedModel
        let inRuntime: Duration
        do {
            (model, inRuntime) = try await checked(prepared, since: began)
        } catch {
            await LibraryThreads.files.run { note?.end(hasLoaded: false) }
            throw error
        }
        await LibraryThreads.files.run { note?.end(hasLoaded: true) }
        let after = await footprint()
        let record = LoadRecord(
            model: version.modelText,
            version: version.versionText,
            runtime: prepared.circumstances.runtime,
            waited: began - asked,
            took: clock.now - began,
            inRuntime: inRuntime,
            before: before,
            after: after
        )
        // What was freed meanwhile would be taken off what this load took.
        if let before, let after, self.departures == 0, turn.departures == departures {
            let bytes = after.anonymous - min(after.anonymous, before.anonymous)
            costs.learn(bytes, in: prepared.circumstances)
            keeping.news.costs.learn(bytes, in: prepared.circumstances)
        }
        return Resident(
            number: nextNumber(),
            key: prepared.key,
            opened: opened,
            model: model,
            bytes: costs.held(opened, in: prepared.circumstances),
            record: record
        )
    }

    /// A model as the runtime loaded it, which is what its manifest says.
    ///
    /// - Throws: `Unfit` where the version is to blame; the model is freed then.
    private func checked(
        _ prepared: Prepared,
        since began: Duration
    ) async throws -> (any LoadedModel, Duration) {
        let loaded = try await fromRuntime(prepared)
        let inRuntime = clock.now - began
        do { for model in loaded.all { try await examine(model, prepared) } } catch {
            // Not here, where an engine that takes its time would hold up every other model.
            await wait(for: letGo(loaded))
            throw error
        }
        guard let model = loaded.all.first else { throw Superseded() }
        return (model, inRuntime)
    }

    private func fromRuntime(_ prepared: Prepared) async throws -> Leaving<any LoadedModel> {
        let version = prepared.key.version
        do {
            let entry = prepared.opened.entryPath
            return Leaving([try await prepared.runtime.load(entry: entry, options: prepared.key.options)])
        } catch {
            let failure = ModelLibraryError.failed(
                model: version.modelText,
                version: version.versionText,
                reason: "\(error)"
            )
            if error is CancellationError { throw failure }
            if let known = error as? any RuntimeFailure, !known.isModelAtFault { throw failure }
            throw Unfit(failure, "\(prepared.circumstances.runtime) cannot load it: \(error)")
        }
    }

    private func examine(_ model: any LoadedModel, _ prepared: Prepared) async throws {
        let opened = prepared.opened
        let disagreements = opened.ports.disagreements(withRuntime: model.ports)
        guard disagreements.isEmpty else {
            let text = disagreements.joined(separator: "; ")
            throw Unfit(opened.version.refused(text), text)
        }
        // Once a version, runtime and options: the files are the same each time.
        guard !opened.checks.isEmpty, !proven.contains(prepared.circumstances) else { return }
        do { try await GoldenRun(opened, configuration.outputPolicy).check(model) } catch {
            guard case ModelLibraryError.refused(_, _, let reason) = error else { throw error }
            throw Unfit(error, reason)
        }
        proven.insert(prepared.circumstances)
        keeping.news.proven.insert(prepared.circumstances)
    }

    private func footprint() async -> MemoryFootprint? {
        let probe = probe
        return await LibraryThreads.memory.run { probe.footprint() }
    }

    /// Sees to it that nobody tries the version again.
    ///
    /// - Returns: What those who wait for it are told.
    private func condemn(_ version: LibraryVersion, _ unfit: Unfit) async -> any Error {
        let source = source
        let reason = unfit.reason
        do {
            let place = try await LibraryThreads.files.run { () throws(ModelLibraryError) in
                try source.condemn(version, reason)
            }
            let (model, text) = (version.modelText, version.versionText)
            tell(.quarantined(model: model, version: text, reason: reason, place: place))
            return unfit.error
        } catch {
            // It is not the version's fault.
            return error
        }
    }

    /// Hands the outcome to all who wait; a failure is forgotten, so that the next call tries again.
    ///
    /// At once, since whoever has the outcome keeps the model in memory.
    private func settle(_ key: LoadKey, _ outcome: Result<Resident, any Error>) {
        guard let load = loads.removeValue(forKey: key) else { return }
        switch outcome {
        case .success(let resident):
            rejections[key] = nil
            let now = clock.now
            let recheck = configuration.recheck
            let lent = table.change { state in
                state.add(resident, load.request, at: now)
                // A load that was overtaken by a later look serves those who wait for it, and goes.
                if load.isNamed, state.named[key.wanted].map({ $0.look <= load.look }) ?? true {
                    state.named[key.wanted] = LendingTable.Named(
                        number: resident.number,
                        stamp: load.stamp,
                        holdsUntil: now + recheck,
                        look: load.look,
                        looked: now
                    )
                }
                // In the order of asking: the last one says how much the model matters from now on.
                let lent = load.waiters.sorted { $0.key < $1.key }.map { _, waiter in
                    (waiter, state.lend(resident.number, waiter.request, at: now))
                }
                state.slots[resident.number]?.retirement = load.retirement
                state.retireOthers(of: key, evenIfStanding: false)
                return lent
            }
            counters.noteLoad(resident.record)
            tell(.loaded(resident.record))
            startSweeping()
            // What is replaced goes before anybody gets the new one: who looks then sees one. That its engine takes
            // its time to free it is not for those who wait.
            startTending()
            for (waiter, lent) in lent {
                waiter.continuation.resume(with: lent.map { .success($0) } ?? .failure(Superseded()))
            }
            Task { await saveRecord() }
        case .failure(let error):
            for waiter in load.waiters.values { waiter.continuation.resume(throwing: error) }
            // What it would have taken is there for others.
            wakeRoomWaiters()
            if error is Superseded { return }
            // With nobody to hear of it, the calls that another version answers would start it over and over.
            if load.waiters.isEmpty, load.isNamed {
                rejections[key] = Rejection(error: error, until: clock.now + configuration.retryAfter)
            }
            counters.noteRefusal(of: key.version.modelText)
            tell(
                .refused(model: key.version.modelText, version: key.version.versionText, reason: "\(error)")
            )
        }
    }
}

extension Result where Success == Resident, Failure == any Error {
    /// Whether the load failed since nothing could make room for it.
    fileprivate var isForLackOfRoom: Bool {
        guard case .failure(let error as ModelLibraryError) = self else { return false }
        return error.isForLackOfRoom
    }
}
