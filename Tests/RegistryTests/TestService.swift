import CanonicalJSON
import HTTPServer
import Names
import Registry
import RegistryAPI
import RegistryHTTP
import Signing
import Support
import Synchronization

/// A registry behind its routes, asked without a socket.
struct TestService {
    let test: TestRegistry
    let clock: ManualClock
    let service: RegistryService
    let secret: String
    let registry: Registry
    private let lines: Lines

    private final class Lines: Sendable {
        let lines = Mutex<[String]>([])
    }

    /// Takes another store than the registry's own, over the same data, and further online keys, when a test
    /// gives them.
    init(
        _ store: ((any RegistryStore) -> any RegistryStore)? = nil,
        onlineKeys further: [SoftwareKey] = []
    ) async throws {
        let test = try await TestRegistry()
        self.test = test
        secret = try await test.registry.issueToken(test.token, now: TestRegistry.start)
        let lines = Lines()
        self.lines = lines
        let clock = ManualClock(TestRegistry.start)
        self.clock = clock
        let registry = try Registry(
            store: store.map { $0(test.store) } ?? test.store,
            blobs: test.blobs,
            onlineKeys: OnlineKeys { () throws(RegistryError) in [test.online] + further }
        )
        self.registry = registry
        service = RegistryService(registry: registry) {
            clock.now
        } log: { line in
            lines.lines.withLock { $0.append(line) }
        }
    }

    var log: [String] { lines.lines.withLock { $0 } }

    func ask(
        _ method: HTTPMethod,
        _ path: String,
        _ fields: HTTPFields = [:],
        body: [UInt8] = []
    ) async -> HTTPResponse {
        let segments = path.split(separator: "/").map(String.init)
        let request = HTTPRequest(
            method: method,
            target: HTTPTarget(path: path, segments: segments),
            fields: fields,
            declaredLength: UInt64(body.count)
        )
        return await service.respond(to: request, body: RequestBody(body))
    }

    /// With the token of the namespace.
    func write(_ method: HTTPMethod, _ path: String, body: [UInt8]) async -> HTTPResponse {
        await ask(method, path, ["Authorization": "Bearer \(secret)"], body: body)
    }
}

extension HTTPResponse {
    /// The body, read from its file if it is one.
    var content: [UInt8] {
        switch body {
        case .none: []
        case .bytes(let bytes): bytes
        case .file(let file, let offset, let length): TestFile.read(file, offset, length)
        }
    }

    var text: String { String(decoding: content, as: UTF8.self) }

    var problem: Problem { get throws { try Problem(bytes: content) } }
}
