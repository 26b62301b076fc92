import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: endless data")
struct EndlessDataTests {
    @Test(
        "no answer is taken beyond the limit of its role",
        arguments: [
            ("2.root.json", Limits.root), ("timestamp.json", Limits.timestamp),
            ("2.targets.json", Limits.targets),
        ]
    )
    func limits(name: String, limit: ByteCount) async throws {
        let world = try World()
        world.registry.change { $0.files[name] = [UInt8](repeating: 0x20, count: Int(limit.rawValue) + 1) }
        var updater = world.updater()
        let url = world.registry.location.metadata(name)
        await #expect(throws: UpdateError.fetch(.refused(.tooLong(limit: limit, announced: nil), url: url))) {
            try await updater.refresh()
        }
    }

    @Test("a snapshot is asked for up to its signed length and no byte more")
    func signedLength() async throws {
        let world = try World()
        let length = try #require(world.registry.repository.timestamp.snapshot.length)
        world.registry.change { $0.files["2.snapshot.json"]?.append(0x20) }
        var updater = world.updater()
        let url = world.registry.location.metadata("2.snapshot.json")
        let limit = ByteCount(rawValue: length)
        await #expect(throws: UpdateError.fetch(.refused(.tooLong(limit: limit, announced: nil), url: url))) {
            try await updater.refresh()
        }
    }

    @Test("a signed length beyond the role's limit does not raise the limit")
    func hugeLength() async throws {
        let world = try World()
        try world.registry.change { repository in
            repository.timestamp.snapshot.length = UInt64(Int64.max)
            try repository.publishTimestamp()
            repository.files["2.snapshot.json"] = [UInt8](repeating: 0x20, count: 2_000_001)
        }
        var updater = world.updater()
        let url = world.registry.location.metadata("2.snapshot.json")
        await #expect(
            throws: UpdateError.fetch(.refused(.tooLong(limit: Limits.snapshot, announced: nil), url: url))
        ) { try await updater.refresh() }
    }

    @Test("bytes beyond the limit are not parsed, wherever they come from")
    func parsed() throws {
        let bytes = [UInt8](repeating: 0x5B, count: Int(Limits.timestamp.rawValue) + 1)
        let quorum = Quorum(role: .timestamp, keys: [:], threshold: 1)
        #expect(
            throws: TrustError.tooLong(role: .timestamp, found: bytes.count, limit: Limits.timestamp.rawValue)
        ) { try Untrusted<TimestampDocument>(bytes).verified(by: quorum) }
    }

    @Test("signatures in greater number than there can be keys are counted, and none of them is read")
    func signatures() {
        let count = Limits.signatures + 1
        let list = [String](repeating: "0", count: count).joined(separator: ",")
        let bytes = Array(#"{"signatures":[\#(list)],"signed":{"a":0}}"#.utf8)
        let quorum = Quorum(role: .targets, keys: [:], threshold: 1)
        let reason = "`signatures` in `file` is not a list of at most \(Limits.signatures), found \(count)"
        #expect(throws: TrustError.malformed(role: .targets, reason: reason)) {
            try Untrusted<TargetsDocument>(bytes).verified(by: quorum)
        }
    }

    @Test("a delegation without end is left after 32 roles")
    func delegations() async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            var parent = RoleName.targets
            for index in 0..<40 {
                let role = RoleName("role\(index)")
                try repository.delegate(role, by: parent, paths: ["x"])
                parent = role
            }
            try repository.publish()
        }
        try await world.synchronise()
        try await world.expectRefusalOfSearch(.tooManyDelegations(path: "x", limit: 32))
        #expect(world.registry.takeRequests().count == 2 + 32)
    }

    @Test("roles that delegate to each other are each visited once")
    func circle() async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            try repository.delegate("a", by: .targets, paths: ["x"], terminating: false)
            try repository.delegate("b", by: "a", paths: ["x"], terminating: false)
            try repository.delegate("a", by: "b", paths: ["x"], terminating: false)
            try repository.publish()
        }
        var updater = try await world.synchronise()
        #expect(try await updater.target("x") == nil)
        #expect(world.registry.takeRequests() == ["1.a.json", "1.b.json"])
    }
}

extension World {
    func expectRefusalOfSearch(_ error: TrustError) async throws {
        var updater = updater()
        try await updater.refresh()
        await #expect(throws: UpdateError.refused(error)) { try await updater.target("x") }
    }
}
