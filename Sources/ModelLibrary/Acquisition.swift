import Blocking
import Inference
import Names

/// The device switched to another version between two looks; the caller looks again.
struct Superseded: Error {}

extension ModelLibrary {
    nonisolated func wanted(_ request: ModelRequest) -> Wanted {
        Wanted(name: request.name, options: request.loadOptions ?? configuration.loadOptions)
    }

    /// At once when the model is in memory and the last look at the device holds.
    nonisolated func lend(_ request: ModelRequest) async throws -> Lent {
        let wanted = wanted(request)
        if let lent = table.hit(wanted, request, at: clock.now) { return lent }
        return try await acquire(wanted, request)
    }

    private func acquire(_ wanted: Wanted, _ request: ModelRequest) async throws -> Lent {
        let deadline = clock.now + (request.deadline ?? configuration.deadline)
        var delivery = delivery
        // The device may switch between two looks; a device that switches all the time is not waited for.
        for _ in 0..<8 {
            let known = table.knownStamp(of: wanted, at: clock.now)
            let sight = try await look(for: LookKey(name: wanted.name, known: known), until: deadline)
            let version: LibraryVersion
            switch sight.version {
            case nil:
                let (now, recheck) = (clock.now, configuration.recheck)
                if let lent = table.renew(wanted, request, sight.stamp, at: now, recheck: recheck) {
                    return lent
                }
                continue
            case .success(let found): version = found
            case .failure(let error):
                guard case .notAvailable = error, let bring = delivery else { throw error }
                // Brought since this look began, so that nobody has to be asked again.
                if let brought = brought[wanted.name], brought > sight.number { continue }
                delivery = nil
                try await deliver(wanted.name, by: bring, instead: error, until: deadline)
                continue
            }
            let key = LoadKey(version: version, options: wanted.options)
            let look = Look(stamp: sight.stamp, number: sight.number)
            do {
                return try await lend(key, look, request, deadline)
            } catch is Superseded {
                continue
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                guard let lent = try await earlier(than: key, look, request, deadline, error) else {
                    throw error
                }
                return lent
            }
        }
        throw ModelLibraryError.notAvailable(
            model: wanted.name.description,
            reason: "its active version keeps changing"
        )
    }

    /// The version in memory, or else what the one load of it gives.
    private func lend(
        _ key: LoadKey,
        _ look: Look,
        _ request: ModelRequest,
        _ deadline: Duration
    ) async throws -> Lent {
        if let lent = point(to: key, look, request) {
            // Not waited for: that an engine takes its time to free another version is not for this caller.
            startTending()
            return lent
        }
        if let rejection = rejections[key] {
            if clock.now < rejection.until { throw rejection.error }
            rejections[key] = nil
        }
        if loads[key] == nil {
            startLoading(key, look, request)
        } else {
            raise(key, to: request.priority)
        }
        loads[key]?.look = look.number
        if configuration.swap == .besideWithoutWaiting,
            let lent = try await standing(key.wanted, request, until: deadline)
        {
            return lent
        }
        return try await waitForLoad(key, request, deadline)
    }

    /// Lends the version in memory and makes the name stand for it.
    private func point(
        to key: LoadKey,
        _ look: Look,
        _ request: ModelRequest,
        retryAt: Duration? = nil
    ) -> Lent? {
        let now = clock.now
        let recheck = configuration.recheck
        return table.change { state in
            guard let number = state.numbers[key], let lent = state.lend(number, request, at: now) else {
                return nil
            }
            state.named[key.wanted] = LendingTable.Named(
                number: number,
                stamp: look.stamp,
                holdsUntil: now + recheck,
                look: look.number,
                looked: now,
                retryAt: retryAt
            )
            state.retireOthers(of: key, evenIfStanding: false)
            return lent
        }
    }

    /// What the name stood for before, while the next version loads; `nil` when that must not run any more.
    private func standing(
        _ wanted: Wanted,
        _ request: ModelRequest,
        until deadline: Duration
    ) async throws -> Lent? {
        let source = source
        guard let (number, version) = resident(wanted) else { return nil }
        let mayRun = try await ask(about: wanted.name, until: deadline) { () throws(ModelLibraryError) in
            try source.mayRun(version)
        }
        let now = clock.now
        return table.change { state in
            guard mayRun, let named = state.named[wanted] else { return nil }
            // With the load over in the meantime it is the new one, and stands.
            if named.number == number {
                // Without a stamp each call comes here again, until the new version stands.
                state.named[wanted]?.stamp = nil
                state.named[wanted]?.holdsUntil = now
            }
            return state.lend(named.number, request, at: now)
        }
    }

    /// What the name stands for at the moment; not the model itself, which whoever has it keeps in memory.
    private func resident(_ wanted: Wanted) -> (number: Int, version: LibraryVersion)? {
        table.change { state in
            state.named[wanted].flatMap { state.slots[$0.number]?.resident }
                .map { ($0.number, $0.key.version) }
        }
    }

    /// Lends an earlier version in place of one that failed: one in memory, else the one before on the device.
    ///
    /// A version that must not run any more is not among them.
    private func earlier(
        than key: LoadKey,
        _ look: Look,
        _ request: ModelRequest,
        _ deadline: Duration,
        _ error: any Error
    ) async throws -> Lent? {
        let source = source
        let name = key.version.model
        let wanted = key.wanted
        let standing = resident(wanted)?.version
        // The deadline may be what failed; an earlier version gets a little of its own.
        let deadline = max(deadline, clock.now + .seconds(5))
        let version = try? await ask(about: name, until: deadline) {
            () throws(ModelLibraryError) -> LibraryVersion? in
            if let standing, standing != key.version, try source.mayRun(standing) { return standing }
            return try source.earlierVersion(of: name, than: key.version)
        }
        try Task.checkCancellation()
        guard let version = version ?? nil, version != key.version else { return nil }
        let fallback = LoadKey(version: version, options: key.options)
        // That this caller waits no longer says nothing about the version, for which others may go on waiting.
        let isOwn = (error as? ModelLibraryError)?.isOfCaller ?? false
        let isNew = rejections[key] == nil
        // The time runs from the failure on: calls and switches in between do not put the next try off.
        let until = rejections[key]?.until ?? clock.now + configuration.retryAfter
        var lent =
            isOwn
            ? lendStopgap(fallback, request) : point(to: fallback, look, request, retryAt: until)
        if lent == nil {
            if loads[fallback] == nil {
                startLoading(fallback, look, request)
                loads[fallback]?.isNamed = !isOwn
            }
            lent = try? await waitForLoad(fallback, request, deadline)
            if !isOwn { table.change { $0.named[wanted]?.retryAt = until } }
        }
        guard let lent else {
            // A caller that was cancelled hears of that, and not of the version that failed before.
            try Task.checkCancellation()
            return nil
        }
        if !isOwn { rejections[key] = Rejection(error: error, until: until) }
        if isNew {
            tell(
                .fellBack(
                    model: key.version.modelText,
                    from: key.version.versionText,
                    to: version.versionText,
                    reason: "\(error)"
                )
            )
        }
        return lent
    }

    /// Lends a version in memory once, whatever the name stands for.
    private func lendStopgap(_ key: LoadKey, _ request: ModelRequest) -> Lent? {
        let now = clock.now
        return table.change { state in
            state.numbers[key].flatMap { state.lend($0, request, at: now) }
        }
    }

    private func waitForLoad(
        _ key: LoadKey,
        _ request: ModelRequest,
        _ deadline: Duration
    ) async throws -> Lent {
        let waiter = nextNumber()
        let clock = clock
        let began = clock.now
        let timer = Task { [weak self] in
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            await self?.giveUp(waiter, for: key, after: max(.zero, deadline - began))
        }
        defer { timer.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else if loads[key] == nil {
                    continuation.resume(throwing: Superseded())
                } else {
                    loads[key]?.waiters[waiter] = LoadInProgress.Waiter(
                        request: request,
                        continuation: continuation
                    )
                }
            }
        } onCancel: {
            Task { await self.stopWaiting(waiter, for: key, CancellationError()) }
        }
    }

    /// Tells a caller that it waited as long as it may, and for whom.
    private func giveUp(_ waiter: Int, for key: LoadKey, after waited: Duration) {
        guard let load = loads[key] else { return }
        let model = key.version.modelText
        let error: ModelLibraryError =
            if let other = turn.holder(before: load.ticket) {
                .behind(model: model, after: waited, loading: other)
            } else {
                .timedOut(model: model, after: waited)
            }
        stopWaiting(waiter, for: key, error)
    }

    private func stopWaiting(_ waiter: Int, for key: LoadKey, _ error: any Error) {
        loads[key]?.waiters.removeValue(forKey: waiter)?.continuation.resume(throwing: error)
    }
}
