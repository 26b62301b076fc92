import Blocking
import Inference
import Names

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
        await turn.take(request.priority)
        let outcome: Result<Resident, any Error>
        do {
            let prepared = try await prepared(key)
            if configuration.swap == .oldFirst {
                await free { $0.retireOthers(of: key, evenIfStanding: true) }
            }
            try await makeRoom(for: prepared, request)
            outcome = .success(try await loaded(prepared, waitedSince: asked))
        } catch {
            outcome = .failure(error)
        }
        await turn.pass()
        await settle(key, outcome)
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
        let began = clock.now
        let before = await footprint()
        let model: any LoadedModel
        do {
            model = try await prepared.runtime.load(entry: opened.entryPath, options: prepared.key.options)
        } catch {
            throw ModelLibraryError.failed(
                model: version.modelText,
                version: version.versionText,
                reason: "\(error)"
            )
        }
        let inRuntime = clock.now - began
        let disagreements = opened.ports.disagreements(withRuntime: model.ports)
        guard disagreements.isEmpty else { throw version.refused(disagreements.joined(separator: "; ")) }
        try await GoldenRun(opened).check(model)
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

    private func footprint() async -> MemoryFootprint? {
        let probe = probe
        return await BlockingPool.shared.run { probe.footprint() }
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
                if state.named[load.wanted].map({ $0.look <= load.look }) ?? true {
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
