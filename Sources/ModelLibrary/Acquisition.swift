import Blocking
import Inference
import Names

/// A load, from the first caller that wants it to the outcome.
struct LoadInProgress {
    /// One caller that waits.
    struct Waiter {
        let request: ModelRequest
        let continuation: CheckedContinuation<Lent, any Error>
    }

    let wanted: Wanted
    let stamp: SourceStamp?

    /// The latest look at the device that found this version active.
    var look: Int
    var request: ModelRequest
    var waiters: [Int: Waiter] = [:]

    /// Why the model goes as soon as those who wait are done.
    var retirement: EvictionReason?

    /// Whether the name stands for it afterwards; not so where it only answers for one that is still loading.
    var isNamed = true
}

/// A version that failed while another one answered in its place.
struct Rejection {
    let error: any Error
    let until: Duration
}

/// One look at the device.
struct Look: Sendable {
    let stamp: SourceStamp?
    let number: Int
}

/// The device switched to another version between two looks; the caller looks again.
struct Superseded: Error {}

extension ModelLibrary {
    nonisolated func wanted(_ request: ModelRequest) -> Wanted {
        Wanted(name: request.name, options: request.loadOptions ?? configuration.loadOptions)
    }

    /// At once when the model is in memory and the last look at the device holds.
    nonisolated func lend(_ request: ModelRequest) async throws -> Lent {
        let wanted = wanted(request)
        let source = source
        if let lent = table.hit(
            wanted,
            request,
            at: clock.now,
            recheck: configuration.recheck,
            stamp: { source.stamp() }
        ) {
            return lent
        }
        return try await acquire(wanted, request)
    }

    private func acquire(_ wanted: Wanted, _ request: ModelRequest) async throws -> Lent {
        let source = source
        let deadline = clock.now + (request.deadline ?? configuration.deadline)
        var delivery = delivery
        // The device may switch between two looks; a device that switches all the time is not waited for.
        for _ in 0..<5 {
            let (stamp, version): (SourceStamp?, LibraryVersion)
            let beginning = nextNumber()
            do throws(ModelLibraryError) {
                (stamp, version) = try await BlockingPool.shared.run {
                    () throws(ModelLibraryError) -> (SourceStamp?, LibraryVersion) in
                    (source.stamp(), try source.activeVersion(of: wanted.name))
                }
            } catch {
                guard case .notAvailable = error, let bring = delivery else { throw error }
                // Brought since this look began, so that nobody has to be asked again.
                if let brought = brought[wanted.name], brought > beginning { continue }
                delivery = nil
                try await deliver(wanted.name, by: bring, instead: error, until: deadline)
                continue
            }
            let key = LoadKey(version: version, options: wanted.options)
            let look = Look(stamp: stamp, number: nextNumber())
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
        let wanted = Wanted(name: key.version.model, options: key.options)
        if let lent = point(wanted, to: key, look, request) {
            await tend()
            return lent
        }
        if let rejection = rejections[key] {
            if clock.now < rejection.until { throw rejection.error }
            rejections[key] = nil
        }
        if loads[key] == nil { startLoading(key, wanted, look, request) }
        loads[key]?.retirement = nil
        loads[key]?.look = look.number
        if configuration.swap == .besideWithoutWaiting, let lent = try await standing(wanted, request) {
            return lent
        }
        return try await waitForLoad(key, request, deadline)
    }

    /// Lends the version in memory and makes the name stand for it.
    private func point(
        _ wanted: Wanted,
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
            state.named[wanted] = LendingTable.Named(
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
    private func standing(_ wanted: Wanted, _ request: ModelRequest) async throws -> Lent? {
        let source = source
        guard let resident = resident(wanted) else { return nil }
        let mayRun = try await BlockingPool.shared.run { () throws(ModelLibraryError) in
            try source.mayRun(resident.key.version)
        }
        let now = clock.now
        return table.change { state in
            guard mayRun, let named = state.named[wanted] else { return nil }
            // With the load over in the meantime it is the new one, and stands.
            if named.number == resident.number {
                // Without a stamp each call comes here again, until the new version stands.
                state.named[wanted]?.stamp = nil
                state.named[wanted]?.holdsUntil = now
            }
            return state.lend(named.number, request, at: now)
        }
    }

    /// What the name stands for at the moment.
    private func resident(_ wanted: Wanted) -> Resident? {
        table.change { state in state.named[wanted].flatMap { state.slots[$0.number]?.resident } }
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
        let wanted = Wanted(name: name, options: key.options)
        let standing = resident(wanted)?.key.version
        let version = try? await BlockingPool.shared.run { () throws(ModelLibraryError) -> LibraryVersion? in
            if let standing, standing != key.version, try source.mayRun(standing) { return standing }
            return try source.earlierVersion(of: name, than: key.version)
        }
        guard let version, version != key.version else { return nil }
        let fallback = LoadKey(version: version, options: key.options)
        // That this caller waits no longer says nothing about the version, for which others may go on waiting.
        let isOwn = (error as? ModelLibraryError)?.isOfCaller ?? false
        let isNew = rejections[key] == nil
        let until = clock.now + configuration.retryAfter
        var lent =
            isOwn
            ? lendStopgap(fallback, request) : point(wanted, to: fallback, look, request, retryAt: until)
        if lent == nil {
            if loads[fallback] == nil {
                startLoading(fallback, wanted, look, request)
                loads[fallback]?.isNamed = !isOwn
            }
            // The deadline may be what failed; an earlier version gets a little of its own.
            lent = try? await waitForLoad(fallback, request, max(deadline, clock.now + .seconds(5)))
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
            let error = ModelLibraryError.timedOut(model: request.model, after: max(.zero, deadline - began))
            await self?.stopWaiting(waiter, for: key, error)
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

    private func stopWaiting(_ waiter: Int, for key: LoadKey, _ error: any Error) {
        loads[key]?.waiters.removeValue(forKey: waiter)?.continuation.resume(throwing: error)
    }
}
