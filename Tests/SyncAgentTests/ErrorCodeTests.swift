import CanonicalJSON
import Durable
import Names
import Support
import SyncAgent
import Testing

@Suite("Error codes")
struct ErrorCodeTests {
    @Test("the table in the documentation is the one in the program")
    func documentation() throws {
        let folder = Durable.parent(of: Durable.parent(of: Durable.parent(of: "\(#filePath)")))
        let page = try Durable.readFile(
            "\(folder)/Sources/SyncAgent/SyncAgent.docc/ErrorCodes.md",
            maximum: .mebibytes(1)
        )
        let text = String(decoding: page, as: UTF8.self)
        #expect(text.contains("\n\n\(ErrorCode.table)\n"), "write the output of ‘sealift errors’ there")
    }

    @Test("each has a word of its own, a cause and a remedy", arguments: ErrorCode.allCases)
    func explained(_ code: ErrorCode) {
        #expect(code.rawValue.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D })
        #expect(code.cause.hasSuffix(".") && code.remedy.hasSuffix("."))
        #expect(!code.cause.contains("|") && !code.remedy.contains("|"))
    }

    @Test("an error of a sync has the exit code of its code", arguments: ErrorCode.allCases)
    func exitCode(_ code: ErrorCode) {
        let error = SyncError(code: code, "what happened")
        #expect(error.exitCode == code.exitCode && error.code == code.rawValue)
        // A decision has these, and no error.
        guard code.exitCode != 3 else { return }
        #expect(SyncError(error.kind, "").exitCode == code.exitCode, "the kind acts as the code says")
    }

    @Test("what stops a sync has a code that names it")
    func codes() async throws {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        #expect(try await fixture.failure { $0.rootFile = "/nowhere/root.json" }?.code == "place")
        #expect(try await fixture.failure { $0.registries = ["http://203.0.113.1/"] }?.code == "plain-http")
        fixture.registry.setOutage(true)
        #expect(try await fixture.failure()?.code == "unreachable")
        fixture.registry.setOutage(false)
        let full = try await fixture.sync { $0.reserve = .max }
        #expect(full.models.map(\.code) == ["disk-full"])
        #expect(full.models[0].failure?.remedy.isEmpty == false)
        fixture.clock.advance(seconds: 400 * 86_400)
        #expect(try await fixture.failure()?.code == "expired")
    }
}
