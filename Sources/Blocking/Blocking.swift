/// Waiting, for tasks, without the runtime's own timers.
///
/// One thread of ours waits in `poll`, so that a wait neither blocks a thread
/// of Swift's pool nor depends on timers that a faked clock stops.
package enum Blocking {
    /// Suspends the task for `seconds`.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    package static func sleep(seconds: Double) async throws {
        try await TimerThread.shared.wait(until: MonotonicTime.now.adding(seconds: seconds))
    }

    /// Suspends the task until `time`, or returns at once when it has passed.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    package static func sleep(until time: MonotonicTime) async throws {
        try await TimerThread.shared.wait(until: time)
    }
}
