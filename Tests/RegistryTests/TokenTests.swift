import Names
import Registry
import SQLiteKit
import Support
import Testing
import Trust

@Suite("Tokens")
struct TokenTests {
    private static let day: Int64 = 86_400

    @Test("a token allows what it was issued for, until it expires")
    func expiry() async throws {
        let test = try await TestRegistry()
        let secret = try await test.registry.issueToken(test.token, now: TestRegistry.start)
        #expect(try test.registry.token(secret, now: TestRegistry.start) == test.token)
        let last = test.token.expires.adding(seconds: -1)
        #expect(try test.registry.token(secret, now: last) == test.token)
        #expect(try test.registry.token(secret, now: test.token.expires) == nil)
    }

    @Test(
        "two tokens differ, and what is stored is no token",
        arguments: ["registry.sqlite", "registry.sqlite-wal"]
    )
    func secrecy(file: String) async throws {
        let test = try await TestRegistry()
        let one = try await test.registry.issueToken(test.token, now: TestRegistry.start)
        let other = try await test.registry.issueToken(test.token, now: TestRegistry.start)
        #expect(one != other)
        let stored = try test.scratch.read(file)
        #expect(String(decoding: stored, as: UTF8.self).contains(one.suffix(64)) == false)
    }

    @Test("anything else is no token", arguments: ["", "sealift_", "Bearer", "sealift_00", "x"])
    func unknown(secret: String) async throws {
        let test = try await TestRegistry()
        _ = try await test.registry.issueToken(test.token, now: TestRegistry.start)
        #expect(try test.registry.token(secret, now: TestRegistry.start) == nil)
    }

    @Test("a revoked token allows nothing, and its neighbours go on")
    func revoked() async throws {
        let test = try await TestRegistry()
        let store = test.registry.store
        let later = TestRegistry.start.adding(seconds: 60)
        var secrets: [String] = []
        for label in ["ci", "ci", "lead"] {
            let token = Token(scope: test.token.scope, label: label, expires: test.token.expires)
            secrets.append(try await test.registry.issueToken(token, now: TestRegistry.start))
        }
        func valid() throws -> [Bool] { try secrets.map { try test.registry.token($0, now: later) != nil } }
        let first = try await Registry.revokeTokens(.number(2), in: store, now: later)
        #expect(first.map(\.number) == [2])
        #expect(try valid() == [true, false, true])
        let second = try await Registry.revokeTokens(.label("ci"), in: store, now: later)
        #expect(second.map(\.number) == [1])
        #expect(try valid() == [false, false, true])
        let none = try await Registry.revokeTokens(.label("ci"), in: store, now: later)
        #expect(none.isEmpty)
        let listed = try store.tokens()
        #expect(listed.map(\.token.label) == ["ci", "ci", "lead"])
        #expect(listed.map(\.revoked) == [later, later, nil])
        #expect(listed.allSatisfy { $0.created == TestRegistry.start })
    }

    @Test("issuing, committing and refusing are kept for later, without secrets")
    func events() async throws {
        let test = try await TestRegistry()
        let secret = try await test.registry.issueToken(test.token, now: TestRegistry.start)
        let first = try await test.publishFirst()
        var posting = Posting(key: test.targets)
        posting.roles = first.roles
        for role in posting.roles.keys { posting.roles[role]?.version = 2 }
        let request = try posting.request
        await #expect(throws: RegistryError.self) {
            try await test.registry.commit(request, by: .token(test.token), now: TestRegistry.start)
        }
        let connection = try Connection(path: test.scratch.path("registry.sqlite"), mode: .readOnly)
        let events = try connection.rows("SELECT kind, subject, detail FROM event ORDER BY seq") {
            row throws(SQLiteError) in
            (kind: try row.text(0), subject: try row.text(1), detail: try row.text(2))
        }
        #expect(events.map(\.kind) == ["created", "token-issued", "committed", "refused"])
        #expect(events.map(\.subject) == ["registry", "ci", "ci", "ci"])
        #expect(events.allSatisfy { !$0.detail.contains(secret.suffix(64)) })
    }
}
