import Dispatch

/// Runs an actor where it may block.
///
/// Swift's own pool has one thread a core. A slow query or an fsync there
/// holds up everything else in the process, so an actor around blocking C
/// names one of these as its executor: inside, its code stays plain and
/// synchronous; outside, it is an `await` like any other.
package final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Creates an executor with a queue of its own.
    ///
    /// - Parameter label: Shown by debuggers and profilers.
    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
