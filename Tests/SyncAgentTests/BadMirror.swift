import Support
import Synchronization
import Transfer

/// A registry at its own address, and a mirror of it at another that does what it is told.
final class BadMirror: Fetching {
    static let url = "https://mirror.test/"

    /// What the mirror does with a file.
    enum Fault: Sendable, CaseIterable {
        case outage, absent, flipped, empty
    }

    private struct State {
        /// What goes wrong, for files whose path contains the text.
        var faults: [String: Fault] = [:]

        /// Other bytes for a path.
        var replaced: [String: [UInt8]] = [:]
        var requests: [String] = []
    }

    private let registry: DeviceRegistry
    private let state = Mutex(State())

    init(_ registry: DeviceRegistry) { self.registry = registry }

    func fail(_ part: String, by fault: Fault?) { state.withLock { $0.faults[part] = fault } }

    /// Serves the metadata that are published now, whatever comes after.
    func freeze(_ names: [String]) {
        let files = registry.metadata.repository.files
        state.withLock { state in
            for name in names { state.replaced["metadata/\(name)"] = files[name] }
        }
    }

    /// What was asked of the mirror since the last call.
    func takeRequests() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        guard request.url.hasPrefix(Self.url) else { return try await registry.fetch(request) }
        let path = String(request.url.dropFirst(Self.url.utf8.count))
        let (fault, bytes) = state.withLock { state in
            state.requests.append(path)
            return (state.faults.first { path.contains($0.key) }?.value, state.replaced[path])
        }
        var asked = request
        asked.url = DeviceRegistry.url + path
        switch fault {
        case .outage: throw .outage(.status(503, retryAfter: nil), url: request.url)
        case .absent: return .absent
        case .empty: return .bytes([], etag: nil)
        case .flipped:
            let outcome = try await registry.fetch(asked)
            guard case .bytes(var bytes, let etag) = outcome, !bytes.isEmpty else { return outcome }
            bytes[bytes.count / 2] ^= 1
            return .bytes(bytes, etag: etag)
        case nil: break
        }
        if let bytes { return .bytes(bytes, etag: nil) }
        return try await registry.fetch(asked)
    }
}
