import CLinux
import Glibc

/// The thread behind ``Blocking/sleep(seconds:)``.
///
/// Waits are few (back-off, polls, a watch loop), so a plain dictionary that
/// is searched at each wake-up is enough.
final class TimerThread: Sendable {
    static let shared = TimerThread()

    private struct Wait: Sendable {
        let time: MonotonicTime
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State: Sendable {
        var waits: [UInt64: Wait] = [:]
        /// Cancelled before their continuation was there.
        var cancelled: Set<UInt64> = []
        var lastTicket: UInt64 = 0
        var isRunning = false
    }

    private let state = Guarded(State())
    private let wakeUp: Int32

    private init() { wakeUp = clinux_eventfd() }

    func wait(until time: MonotonicTime) async throws {
        try Task.checkCancellation()
        guard time > MonotonicTime.now else { return }
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        let elapsed = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(Wait(time: time, continuation: continuation), ticket)
            }
        } onCancel: {
            cancel(ticket)
        }
        // A cancellation may have come when the wait had just ended.
        state.withLock { state in _ = state.cancelled.remove(ticket) }
        guard elapsed else { throw CancellationError() }
    }

    private func add(_ wait: Wait, _ ticket: UInt64) {
        let (isCancelled, mustStart) = state.withLock { state in
            if state.cancelled.remove(ticket) != nil { return (true, false) }
            state.waits[ticket] = wait
            defer { state.isRunning = true }
            return (false, !state.isRunning)
        }
        if isCancelled { return wait.continuation.resume(returning: false) }
        guard mustStart else { return poke() }
        let began = OwnThread.start { [self] in run() }
        precondition(began, "the system has no thread for timers")
    }

    private func cancel(_ ticket: UInt64) {
        let wait = state.withLock { state in
            let wait = state.waits.removeValue(forKey: ticket)
            if wait == nil { state.cancelled.insert(ticket) }
            return wait
        }
        wait?.continuation.resume(returning: false)
    }

    private func poke() {
        var one: UInt64 = 1
        _ = write(wakeUp, &one, 8)
    }

    private func run() {
        while true {
            let now = MonotonicTime.now
            let (due, next) = state.withLock { state in
                let due = state.waits.filter { $0.value.time <= now }
                for ticket in due.keys { state.waits[ticket] = nil }
                return (due.values.map(\.continuation), state.waits.values.map(\.time).min())
            }
            for continuation in due { continuation.resume(returning: true) }
            var milliseconds: Int32 = -1
            if let next { milliseconds = Int32(min(next.seconds(since: now) * 1_000 + 1, 60_000)) }
            var watched = pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)
            if poll(&watched, 1, milliseconds) > 0 {
                var count: UInt64 = 0
                _ = read(wakeUp, &count, 8)
            }
        }
    }
}
