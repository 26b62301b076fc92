/// Waits no longer than a deadline for something that may never answer.
enum Deadline {
    private struct Passed: Error {}

    /// What `body` gives, or `nil` at `time`.
    ///
    /// `body` is cancelled then and when the caller is, and is not waited for:
    /// it may be code of an app that does not listen to that.
    ///
    /// - Throws: What `body` throws; `CancellationError` when the caller is cancelled.
    static func answer<Value: Sendable>(
        by time: Duration,
        _ clock: any LibraryClock,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let (answers, continuation) = AsyncStream.makeStream(of: Result<Value, any Error>.self)
        let work = Task {
            do { continuation.yield(.success(try await body())) } catch {
                continuation.yield(.failure(error))
            }
        }
        let timer = Task {
            guard (try? await clock.sleep(until: time)) != nil else { return }
            continuation.yield(.failure(Passed()))
        }
        defer {
            work.cancel()
            timer.cancel()
        }
        for await answer in answers {
            do { return try answer.get() } catch is Passed { return nil }
        }
        throw CancellationError()
    }
}
