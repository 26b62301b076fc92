/// A bounded number of threads for work that blocks.
///
/// For blocking calls that belong to no actor: a transfer, the digest of a
/// file, a child process. When all threads are busy, work waits in order.
package final class BlockingPool: Sendable {
    /// The pool that everything uses unless it has a reason.
    package static let shared = BlockingPool(width: 16)

    private let queue: WorkQueue

    /// - Parameter width: The most calls in progress at one time.
    /// - Precondition: `width` is positive.
    package init(width: Int) { queue = WorkQueue(width: width) }

    /// Starts the first thread now, for a program that knows early that there will be work.
    package func startAhead() { queue.startAhead() }

    /// Runs `body` on a thread that may block.
    ///
    /// The caller's cancellation does not reach `body`; use
    /// ``run(cancelling:_:)`` for work that can be told to stop.
    ///
    /// - Throws: What `body` throws.
    package func run<Success: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let result: Result<Success, Failure> = await withCheckedContinuation { continuation in
            queue.submit { continuation.resume(returning: Self.result(of: body)) }
        }
        return try result.get()
    }

    /// Runs `body`, and calls `onCancel` at once when the calling task is cancelled.
    ///
    /// `onCancel` may run before, during or after `body`, on any thread: it
    /// sets a flag or calls an abort function that `body` notices.
    ///
    /// - Throws: What `body` throws.
    package func run<Success: Sendable, Failure: Error>(
        onCancel: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        let result: Result<Success, Failure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.submit { continuation.resume(returning: Self.result(of: body)) }
            }
        } onCancel: {
            onCancel()
        }
        return try result.get()
    }

    /// Runs `body`, which watches `cancellation`; the calling task's cancellation sets it.
    ///
    /// - Throws: What `body` throws.
    package func run<Success: Sendable, Failure: Error>(
        cancelling cancellation: Cancellation,
        _ body: @escaping @Sendable () throws(Failure) -> Success
    ) async throws(Failure) -> Success {
        try await run(onCancel: cancellation.cancel, body)
    }

    private static func result<Success, Failure: Error>(
        of body: () throws(Failure) -> Success
    ) -> Result<Success, Failure> {
        do {
            return .success(try body())
        } catch {
            return .failure(error)
        }
    }
}
