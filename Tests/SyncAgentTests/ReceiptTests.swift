import CanonicalJSON
import Durable
import Generations
import Glibc
import Names
import Signing
import Support
import SyncAgent
import Synchronization
import Testing
import Transfer
import Trust

/// A registry's receiving end, with whatever answer a test wants.
final class ReceiptReceiver: APIExchanging {
    private struct State {
        var bodies: [[UInt8]] = []
        var urls: [String] = []
        var status: Int? = 202
    }

    private let state = Mutex(State())

    /// `nil` is nobody there.
    func answer(_ status: Int?) { state.withLock { $0.status = status } }

    var bodies: [[UInt8]] { state.withLock { $0.bodies } }
    var urls: [String] { state.withLock { $0.urls } }

    func send(_ request: APIRequest) async throws(FetchError) -> APIResponse {
        let status = state.withLock { state in
            state.urls.append(request.url)
            if case .bytes(let bytes, _) = request.body { state.bodies.append(bytes) }
            return state.status
        }
        guard let status else { throw .outage(.notConnected(detail: "nobody is there"), url: request.url) }
        return APIResponse(status: status, contentType: nil, etag: nil, retryAfter: nil, body: [])
    }
}

@Suite("Receipts")
struct ReceiptTests {
    private let fixture: SyncFixture
    private let day: Int64 = 86_400

    init() throws {
        fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
    }

    @discardableResult
    private func sync(_ adjust: (inout SyncConfiguration) -> Void = { _ in }) async throws -> SyncReport {
        try await fixture.sync {
            $0.sendsReceipts = true
            $0.tags = ["site": "hall-3"]
            adjust(&$0)
        }
    }

    /// A device with 1.0.0, enrolled.
    private func enrolled() async throws -> PublicKey {
        try await fixture.sync()
        return try SyncedDevice(directory: fixture.directory).enroll(at: DeviceRegistry.url)
    }

    private func waiting() throws -> [String] {
        try Durable.names(in: "\(fixture.directory)/receipts").filter { $0 != "state.json" }
    }

    private func signed(_ body: [UInt8]?) throws -> JSONValue {
        try JSONParser.parse(try require(body), maximumLength: 65_536)["signed"] ?? .null
    }

    @Test("nothing is sent before the operator wants it and the device is enrolled")
    func off() async throws {
        try await sync()
        #expect(fixture.receiver.urls.isEmpty)
        _ = try SyncedDevice(directory: fixture.directory).enroll(at: DeviceRegistry.url)
        try fixture.registry.release("1.1.0")
        try await fixture.sync()
        #expect(fixture.receiver.urls.isEmpty)
        try await sync()
        #expect(fixture.receiver.urls.count == 1)
    }

    @Test("a receipt is signed by the device's key, and says what the format says and nothing else")
    func format() async throws {
        let key = try await enrolled()
        try fixture.registry.release("1.1.0")
        try await sync()
        #expect(fixture.receiver.urls == ["\(DeviceRegistry.url)api/v1/receipts"])
        let file = try JSONParser.parse(try require(fixture.receiver.bodies.first), maximumLength: 65_536)
        let signed = try require(file["signed"])
        #expect(file.object?.keys.sorted() == ["signatures", "signed"])
        let signature = try require(file["signatures"]?.array?.first)
        #expect(
            signature["keyid"]?.string == Authoring.keyID(of: key) && signed["device"] == signature["keyid"]
        )
        let bytes = try require(signature["sig"]?.string.flatMap { Hex.bytes($0) })
        #expect(key.isValid(bytes, for: try require(signed.rfc8785)))
        #expect(!key.isValid(bytes, for: try require(file.rfc8785)))
        let keys = ["device", "durations", "models", "outcome", "quarantined", "tags", "time", "type"]
        #expect(signed.object?.keys.sorted() == keys)
        #expect(signed["type"]?.string == "sealift/receipt@1" && signed["outcome"]?.string == "done")
        #expect(signed["time"]?.string == fixture.clock.now.description)
        #expect(signed["tags"] == .members(["site": .text("hall-3")]))
        let model = try require(signed["models"]?.array?.first)
        #expect(model.object?.keys.sorted() == ["manifest", "model", "outcome", "version"])
        #expect(model["version"]?.string == "1.1.0" && model["outcome"]?.string == "activated")
        let phases = Set(signed["durations"]?.object?.keys ?? [])
        #expect(
            phases.isSuperset(of: ["refreshing", "downloading"])
                && phases.isSubset(of: Set(SyncPhase.allCases.map(\.rawValue)))
        )
        let text = String(decoding: signed.compactJSON, as: UTF8.self)
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, 255)
        let host = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #expect(
            !text.contains(fixture.directory) && !text.contains("\"\(host)\"") && !text.contains("example")
        )
        var status = stat()
        #expect(stat("\(fixture.directory)/device/key.pem", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test("one is sent on news, and otherwise once a day, not on every poll")
    func occasions() async throws {
        _ = try await enrolled()
        for _ in 0..<5 {
            try await sync()
            fixture.clock.advance(seconds: 3_600)
        }
        #expect(fixture.receiver.bodies.count == 1)
        try fixture.registry.release("1.1.0")
        try await sync()
        try await sync()
        #expect(fixture.receiver.bodies.count == 2)
        fixture.clock.advance(seconds: day * 9 / 10 - 1)
        try await sync()
        #expect(fixture.receiver.bodies.count == 2)
        fixture.clock.advance(seconds: day / 5 + 2)
        try await sync()
        #expect(fixture.receiver.bodies.count == 3)
        let last = try signed(fixture.receiver.bodies.last)
        #expect(last["models"]?.array?.first?["outcome"]?.string == "unchanged")
    }

    @Test("a version that could not be activated is named, with the code and without the message")
    func failure() async throws {
        _ = try await enrolled()
        try await sync()
        try fixture.registry.release("1.1.0", signedWidth: 8)
        let report = try await sync()
        #expect(report.models[0].outcome == .failed)
        let model = try require(try signed(fixture.receiver.bodies.last)["models"]?.array?.first)
        #expect(model["version"]?.string == "1.0.0" && model["outcome"]?.string == "failed")
        #expect(
            model["failed"]?["version"]?.string == "1.1.0" && model["code"]?.string == report.models[0].code
        )
        let text = String(decoding: model.compactJSON, as: UTF8.self)
        #expect(!text.contains(report.models[0].reason))
        let count = fixture.receiver.bodies.count
        try await sync()
        #expect(fixture.receiver.bodies.count == count, "the same failure is no news")
    }

    @Test(
        "a version that the device went back from is named as quarantined, and the operator's words stay here"
    )
    func quarantined() async throws {
        _ = try await enrolled()
        try fixture.registry.release("1.1.0")
        try await sync()
        try SyncedDevice(directory: fixture.directory).rollback(reason: "secret words")
        try await sync()
        let body = try require(fixture.receiver.bodies.last)
        let quarantined = try signed(body)["quarantined"]?.array
        #expect(quarantined?.count == 1 && quarantined?[0]["version"]?.string == "1.1.0")
        #expect(quarantined?[0].object?.keys.sorted() == ["manifest", "model", "version"])
        #expect(!String(decoding: body, as: UTF8.self).contains("secret words"))
    }

    @Test("what nobody took waits and goes later, in order; the sync succeeds all the same")
    func queue() async throws {
        _ = try await enrolled()
        fixture.receiver.answer(nil)
        #expect(try await sync().exitCode == 0)
        try fixture.registry.release("1.1.0")
        let report = try await sync()
        #expect(
            report.exitCode == 0 && report.warnings.contains { $0.contains("receipts wait") },
            "\(report.warnings)"
        )
        #expect(try waiting().count == 2)
        fixture.receiver.answer(503)
        try await sync()
        #expect(try waiting().count == 2)
        fixture.receiver.answer(202)
        let before = fixture.receiver.bodies.count
        try await sync()
        #expect(try waiting().isEmpty)
        let versions = try fixture.receiver.bodies.dropFirst(before).map { body in
            try signed(body)["models"]?.array?.first?["version"]?.string
        }
        #expect(versions == ["1.0.0", "1.1.0"])
    }

    @Test(
        "a registry that refuses a receipt gets it once; one that counted it already is content",
        arguments: [400, 409]
    )
    func refused(_ status: Int) async throws {
        _ = try await enrolled()
        fixture.receiver.answer(status)
        let warnings = try await sync().warnings
        #expect(warnings.contains { $0.contains("refused a receipt") } == (status == 400))
        #expect(try waiting().isEmpty)
        try await sync()
        #expect(fixture.receiver.bodies.count == 1)
    }

    @Test("a year without a registry keeps the newest few")
    func bounded() async throws {
        _ = try await enrolled()
        fixture.receiver.answer(nil)
        for _ in 0..<40 {
            try await sync()
            // As if a day had gone by.
            try Durable.removeFile("\(fixture.directory)/receipts/state.json")
            fixture.clock.advance(seconds: 60)
        }
        let names = try waiting()
        #expect(names.count == 32)
        let newest = try Durable.readFile(
            "\(fixture.directory)/receipts/\(try require(names.last))",
            maximum: .mebibytes(1)
        )
        let time = try require(try signed(newest)["time"]?.string.flatMap { UnixTime($0) })
        #expect(time == fixture.clock.now.adding(seconds: -60))
    }

    @Test("another key than the enrolled one signs nothing", arguments: [true, false])
    func otherKey(_ isDamaged: Bool) async throws {
        _ = try await enrolled()
        let path = "\(fixture.directory)/device/key.pem"
        if isDamaged { try Durable.writeAtomically(path, Array("x".utf8), mode: 0o600) } else { unlink(path) }
        let report = try await sync()
        #expect(
            report.exitCode == 0 && report.warnings.contains { $0.contains("not the key that was enrolled") }
        )
        #expect(fixture.receiver.urls.isEmpty)
        let kind = try Durable.kind(of: path)
        #expect((kind != nil) == isDamaged, "no other key is made for it")
    }

    @Test("tags that could carry anything are refused")
    func tags() async throws {
        for tags in [
            ["Site": "a"], ["": "a"], ["a": ""], ["a": "b\nc"], ["a": String(repeating: "x", count: 65)],
        ] {
            let failure = try await fixture.failure { $0.tags = tags }
            #expect(failure?.kind == .usage && failure?.message.contains("tags") == true, "\(tags)")
        }
    }
}
