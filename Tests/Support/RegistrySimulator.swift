import Blocking
package import Names
import Signing
package import Transfer
package import Trust

/// A registry without a network: answers from a ``SimulatedRepository``, and counts.
package final class RegistrySimulator: Fetching {
    private struct State {
        var repository: SimulatedRepository
        var requests: [String] = []
        var failures: [String: FetchError] = [:]
    }

    private let state: Guarded<State>
    private static let base = "https://registry.test/metadata/"

    package init(_ repository: SimulatedRepository) { state = Guarded(State(repository: repository)) }

    package var location: RepositoryLocation { RepositoryLocation(base: "https://registry.test/") }

    /// A copy of what is simulated.
    package var repository: SimulatedRepository { state.withLock { $0.repository } }

    /// Changes what is simulated.
    package func change(_ body: (inout SimulatedRepository) throws -> Void) rethrows {
        try state.withLock { try body(&$0.repository) }
    }

    /// Makes every request for a file fail; `nil` ends that.
    package func fail(_ name: String, with error: FetchError?) {
        state.withLock { $0.failures[name] = error }
    }

    /// The names asked for since the last call, in order.
    package func takeRequests() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    package func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        let answer: Result<FetchOutcome, FetchError> = state.withLock { state in
            guard request.url.hasPrefix(Self.base) else { return .success(.absent) }
            let name = String(request.url.dropFirst(Self.base.count))
            state.requests.append(name)
            if let error = state.failures[name] { return .failure(error) }
            guard let bytes = state.repository.files[name] else { return .success(.absent) }
            guard UInt64(bytes.count) <= request.maximumLength.rawValue else {
                let refusal = FetchRefusal.tooLong(limit: request.maximumLength, announced: nil)
                return .failure(.refused(refusal, url: request.url))
            }
            let etag = "\"\(SHA256.digest(of: bytes).hex)\""
            return .success(request.ifNoneMatch == etag ? .notModified : .bytes(bytes, etag: etag))
        }
        return try answer.get()
    }

    /// An updater of a client that is pinned to root version 1 of this registry.
    ///
    /// - Parameters:
    ///   - store: The client's stored metadata.
    ///   - now: The client's clock; by default the registry's.
    ///   - policy: Sealift's rules, or TUF's alone.
    /// - Returns: One update, not begun.
    package func updater(
        _ store: MemoryMetadataStore,
        now: UnixTime? = nil,
        policy: TrustPolicy = .sealift
    ) -> MetadataUpdater {
        let repository = repository
        return MetadataUpdater(
            anchor: repository.files["1.root.json"] ?? [],
            store: store,
            fetcher: self,
            mirrors: Mirrors([location]),
            now: now ?? repository.now,
            policy: policy
        )
    }
}
