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
    func startLoading(_ key: LoadKey, _ wanted: Wanted, _ look: Look, _ request: ModelRequest) {
        loads[key] = LoadInProgress(wanted: wanted, stamp: look.stamp, look: look.number, request: request)
        Task { await load(key, request) }
    }

    private func load(_ key: LoadKey, _ request: ModelRequest) async {
        let asked = clock.now
        let hold = nextNumber()
        await take(hold, request.priority)
        var outcome: Result<Resident, any Error>
        do {
            let prepared = try await prepared(key)
            if configuration.swap == .oldFirst {
                await free { $0.retireOthers(of: key, evenIfStanding: true) }
            }
            try await makeRoom(for: prepared, request)
            let resident = try await watched(hold, key) {
                try await self.loaded(prepared, waitedSince: asked)
            }
            outcome = .success(resident)
        } catch {
            outcome = .failure(error)
        }
        await pass(hold)
        if case .failure(let unfit as Unfit) = outcome {
            // What fails on one kind of processor may well run on another, which a ladder then asks for.
            let isGeneral = key.options.compute == .any || key.options.compute == .cpu
            outcome = .failure(isGeneral ? await condemn(key.version, unfit) : unfit.error)
        }
        await settle(key, outcome)
    }

    private func take(_ hold: Int, _ priority: ModelPriority) async {
        await turn.take(priority)
        holds.insert(hold)
    }

    private func pass(_ hold: Int) async {
        if holds.remove(hold) != nil { await turn.pass() }
    }

    /// Passes the turn on when `body` takes longer than is usual: what never comes back must hold up no other model.
    private func watched<Outcome>(
        _ hold: Int,
        _ key: LoadKey,
        _ body: () async throws -> Outcome
    ) async rethrows -> Outcome {
        let (clock, long) = (clock, configuration.longLoad)
        let due = clock.now + long
        let watchdog = Task { [weak self] in
            guard (try? await clock.sleep(until: due)) != nil else { return }
            await self?.overstay(hold, key, after: long)
        }
        defer { watchdog.cancel() }
        return try await body()
    }

    private func overstay(_ hold: Int, _ key: LoadKey, after long: Duration) async {
        guard holds.contains(hold) else { return }
        tell(.longLoad(model: key.version.modelText, version: key.version.versionText, after: long))
        await pass(hold)
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
        let opened = try await BlockingPool.shared.run { () throws(ModelLibraryError) in
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
        let before = await footprint(noting: note)
        let model: any LoadedModel
        let inRuntime: Duration
        do {
            (model, inRuntime) = try await checked(prepared, since: began)
        } catch {
            await BlockingPool.shared.run { note?.end(hasLoaded: false) }
            throw error
        }
        await BlockingPool.shared.run { note?.end(hasLoaded: true) }
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
        if let before, let after {
            costs.learn(after.anonymous - min(after.anonymous, before.anonymous), in: prepared.circumstances)
        }
        return Resident(
            number: nextNumber(),
            key: prepared.key,
            opened: opened,
            model: model,
            bytes: costs.measured[prepared.circumstances] ?? prepared.need,
            record: record
        )
    }

    /// A model as the runtime loaded it, which is what its manifest says.
    ///
    /// - Throws: `Unfit` where the version is to blame.
    private func checked(
        _ prepared: Prepared,
        since began: Duration
    ) async throws -> (any LoadedModel, Duration) {
        let (version, opened) = (prepared.key.version, prepared.opened)
        let model: any LoadedModel
        do {
            model = try await prepared.runtime.load(entry: opened.entryPath, options: prepared.key.options)
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
        let inRuntime = clock.now - began
        let disagreements = opened.ports.disagreements(withRuntime: model.ports)
        guard disagreements.isEmpty else {
            let text = disagreements.joined(separator: "; ")
            throw Unfit(version.refused(text), text)
        }
        do { try await GoldenRun(opened).check(model) } catch {
            guard case ModelLibraryError.refused(_, _, let reason) = error else { throw error }
            throw Unfit(error, reason)
        }
        return (model, inRuntime)
    }

    private func footprint(noting note: (any LoadNote)? = nil) async -> MemoryFootprint? {
        let probe = probe
        return await BlockingPool.shared.run {
            let footprint = probe.footprint()
            note?.begin()
            return footprint
        }
    }

    /// Sees to it that nobody tries the version again.
    ///
    /// - Returns: What those who wait for it are told.
    private func condemn(_ version: LibraryVersion, _ unfit: Unfit) async -> any Error {
        let source = source
        let reason = unfit.reason
        do {
            let place = try await BlockingPool.shared.run { () throws(ModelLibraryError) in
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
    private func settle(_ key: LoadKey, _ outcome: Result<Resident, any Error>) async {
        guard let load = loads.removeValue(forKey: key) else { return }
        switch outcome {
        case .success(let resident):
            rejections[key] = nil
            let now = clock.now
            let recheck = configuration.recheck
            let lent = table.change { state in
                state.add(resident, load.request, at: now)
                // A load that was overtaken by a later look serves those who wait for it, and goes.
                if load.isNamed, state.named[load.wanted].map({ $0.look <= load.look }) ?? true {
                    state.named[load.wanted] = LendingTable.Named(
                        number: resident.number,
                        stamp: load.stamp,
                        holdsUntil: now + recheck,
                        look: load.look,
                        looked: now
                    )
                }
                let lent = load.waiters.mapValues { state.lend(resident.number, $0.request, at: now) }
                state.slots[resident.number]?.retirement = load.retirement
                state.retireOthers(of: key, evenIfStanding: false)
                return lent
            }
            counters.noteLoad(resident.record)
            tell(.loaded(resident.record))
            startSweeping()
            // What is replaced goes before anybody gets the new one: who looks then sees one.
            await tend()
            for (number, waiter) in load.waiters {
                guard let lent = lent[number] ?? nil else { continue }
                waiter.continuation.resume(returning: lent)
            }
            await saveRecord()
        case .failure(let error):
            for waiter in load.waiters.values { waiter.continuation.resume(throwing: error) }
            if error is Superseded { return }
            counters.noteRefusal(of: key.version.modelText)
            tell(
                .refused(model: key.version.modelText, version: key.version.versionText, reason: "\(error)")
            )
        }
    }
}
