import Blocking
public import ModelLibrary

/// A clock that a test moves; whoever sleeps on it wakes when the test passes his time.
public final class ManualLibraryClock: LibraryClock {
    private struct Sleeper {
        let time: Duration
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now = Duration.seconds(1_000)
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var lastNumber = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let guarded = Guarded(State())

    /// A clock that stands still.
    public init() {}

    /// Where the test put it.
    public var now: Duration { guarded.withLock { $0.now } }

    /// Moves the clock and wakes whose time has come.
    public func advance(by step: Duration) {
        let due = guarded.withLock { state in
            state.now += step
            let due = state.sleepers.filter { $0.value.time <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume(returning: true) }
    }

    /// Returns when `count` sleep on this clock.
    public func sleeping(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = guarded.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Suspends the task until the test has moved the clock to `time`.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until time: Duration) async throws {
        let number = guarded.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let elapsed = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(Sleeper(time: time, continuation: continuation), number)
            }
        } onCancel: {
            cancel(number)
        }
        guard elapsed else { throw CancellationError() }
    }

    private func add(_ sleeper: Sleeper, _ number: Int) {
        let (outcome, watchers) = guarded.withLock { state -> (Bool?, [CheckedContinuation<Void, Never>]) in
            if state.cancelled.remove(number) != nil { return (false, []) }
            if sleeper.time <= state.now { return (true, []) }
            state.sleepers[number] = sleeper
            let count = state.sleepers.count
            let ready = state.watchers.filter { $0.count <= count }.map(\.continuation)
            state.watchers.removeAll { $0.count <= count }
            return (nil, ready)
        }
        if let outcome { sleeper.continuation.resume(returning: outcome) }
        for watcher in watchers { watcher.resume() }
    }

    private func cancel(_ number: Int) {
        let sleeper = guarded.withLock { state in
            let sleeper = state.sleepers.removeValue(forKey: number)
            if sleeper == nil { state.cancelled.insert(number) }
            return sleeper
        }
        sleeper?.continuation.resume(returning: false)
    }
}
