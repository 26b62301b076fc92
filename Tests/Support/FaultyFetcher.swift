import Blocking
package import Transfer

/// A fetcher that fails when it is told to, and else asks another.
package final class FaultyFetcher: Fetching {
    /// Decides what goes wrong; the number counts requests from 0.
    package typealias Plan = @Sendable (FetchRequest, Int) -> FetchError?

    private let inner: any Fetching
    private let plan: Plan
    private let log = Guarded<[FetchRequest]>([])

    package init(_ inner: any Fetching, _ plan: @escaping Plan) {
        self.inner = inner
        self.plan = plan
    }

    /// What was asked so far, in order.
    package var requests: [FetchRequest] { log.withLock { $0 } }

    package func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        let number = log.withLock { log in
            log.append(request)
            return log.count - 1
        }
        if let error = plan(request, number) { throw error }
        return try await inner.fetch(request)
    }
}
