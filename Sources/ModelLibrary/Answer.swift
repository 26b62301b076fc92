import Blocking

/// One answer that several callers wait for, each no longer than it wishes.
///
/// Who is cancelled or waits no longer leaves nothing behind, and the work
/// that gives the answer goes on.
final class Answer<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let continuation: CheckedContinuation<Value?, any Error>
        let timer: Task<Void, Never>

        func end(_ outcome: Result<Value?, any Error>) {
            timer.cancel()
            continuation.resume(with: outcome)
        }
    }

    private struct State: Sendable {
        var answer: Result<Value?, any Error>?
        var waiters: [Int: Waiter] = [:]
        var lastNumber = 0
    }

    private let guarded = Guarded(State())

    /// Gives the answer; only the first counts.
    func give(_ answer: Result<Value, any Error>) {
        let outcome = answer.map { Optional($0) }
        let waiters = guarded.withLock { state -> [Waiter] in
            guard state.answer == nil else { return [] }
            state.answer = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.end(outcome) }
    }

    /// The answer, or `nil` at `time`.
    ///
    /// - Throws: What was given in its place; `CancellationError` when the caller is cancelled.
    func value(by time: Duration, _ clock: any LibraryClock) async throws -> Value? {
        let number = guarded.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = guarded.withLock { state -> Result<Value?, any Error>? in
                    if let answer = state.answer { return answer }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    let timer = Task {
                        guard (try? await clock.sleep(until: time)) != nil else { return }
                        leave(number, .success(nil))
                    }
                    state.waiters[number] = Waiter(continuation: continuation, timer: timer)
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            leave(number, .failure(CancellationError()))
        }
    }

    private func leave(_ number: Int, _ outcome: Result<Value?, any Error>) {
        guarded.withLock { $0.waiters.removeValue(forKey: number) }?.end(outcome)
    }
}
