import Names

/// What brings a model that is not on the device yet, from the first caller that asks for it to the outcome.
struct DeliveryInProgress {
    var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
}

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
        if deliveries[name] == nil {
            deliveries[name] = DeliveryInProgress()
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
        let waiter = nextNumber()
        let (clock, began) = (clock, clock.now)
        let timer = Task { [weak self] in
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            let waited = max(.zero, deadline - began)
            let late = ModelLibraryError.timedOut(model: name.description, after: waited)
            await self?.stopWaitingForDelivery(waiter, of: name, late)
        }
        defer { timer.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    deliveries[name]?.waiters[waiter] = continuation
                }
            }
        } onCancel: {
            Task { await self.stopWaitingForDelivery(waiter, of: name, CancellationError()) }
        }
    }

    private func delivered(_ name: ModelName, _ failure: ModelLibraryError?) {
        if failure == nil { brought[name] = nextNumber() }
        guard let delivery = deliveries.removeValue(forKey: name) else { return }
        for waiter in delivery.waiters.values {
            if let failure { waiter.resume(throwing: failure) } else { waiter.resume() }
        }
    }

    private func stopWaitingForDelivery(_ waiter: Int, of name: ModelName, _ error: any Error) {
        deliveries[name]?.waiters.removeValue(forKey: waiter)?.resume(throwing: error)
    }
}
