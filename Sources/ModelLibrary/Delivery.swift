import Names

/// Models on demand.
extension ModelLibrary {
    /// Waits until the app has brought a model, which is asked for once however many callers wait.
    ///
    /// Cancelling a caller, or its deadline, ends its wait and not the delivery.
    ///
    /// - Parameters:
    ///   - name: The model.
    ///   - delivery: What brings it.
    ///   - error: Why it is not available without that.
    ///   - deadline: Until when this caller waits.
    /// - Throws: `ModelLibraryError.notAvailable` with the reason of the
    ///   delivery too, `.timedOut`, or `CancellationError`.
    func deliver(
        _ name: ModelName,
        by delivery: @escaping @Sendable (String) async throws -> Void,
        instead error: ModelLibraryError,
        until deadline: Duration
    ) async throws {
        let answer = deliveries[name] ?? Answer<Void>()
        if deliveries[name] == nil {
            deliveries[name] = answer
            // Of no caller: it goes on when one is cancelled.
            Task {
                var failure: ModelLibraryError?
                do { try await delivery(name.description) } catch let reason {
                    failure = .notAvailable(
                        model: name.description,
                        reason: "\(error.reason ?? ""); it was asked for, and could not be brought: \(reason)"
                    )
                }
                delivered(name, failure)
            }
        }
        try await inTime(answer, of: name, until: deadline)
    }

    private func delivered(_ name: ModelName, _ failure: ModelLibraryError?) {
        if failure == nil { brought[name] = nextNumber() }
        let delivery = deliveries.removeValue(forKey: name)
        if let failure { delivery?.give(.failure(failure)) } else { delivery?.give(.success(())) }
    }
}
