import CanonicalJSON
import Foundation
import Names
import Signing
import Support
import Testing
import Trust

@Suite("tuf-client: what it takes and what it refuses", .serialized)
struct TUFClientTrustTests {
    /// A client that has refreshed once; `change` then alters the repository, and the next refresh ends with `code`.
    private func refreshed(
        _ code: Int32,
        mentions: String = "",
        sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (ClientUnderTest) throws -> Void
    ) throws -> ClientUnderTest {
        let client = try ClientUnderTest()
        try #require(try client.initialise() == 0)
        try #require(try client.refresh() == 0)
        _ = try client.takeRequests()
        try change(client)
        try client.serve()
        #expect(try client.refresh() == code, "\(client.errors)", sourceLocation: sourceLocation)
        if !mentions.isEmpty {
            #expect(client.errors.contains(mentions), "\(client.errors)", sourceLocation: sourceLocation)
        }
        return client
    }

    private func version(_ client: ClientUnderTest, _ role: String) throws -> Int64? {
        let bytes = try #require(try client.trusted[role + ".json"])
        return try JSONParser.parse(bytes, maximumLength: 1 << 20)["signed"]?["version"]?.integer
    }

    @Test("roots are followed one by one, each stored, by old keys and new")
    func roots() throws {
        let client = try refreshed(0) { client in
            try client.repository.rotate(.root, to: .ecdsaP256, count: 3, threshold: 2)
            try client.repository.publishRoot()
            try client.repository.rotate(.targets, to: .ecdsaP256, count: 2, threshold: 2)
            try client.repository.publishRoot()
            try client.repository.publish()
        }
        #expect(try version(client, "root") == 3)
        let requests = try client.takeRequests()
        #expect(
            requests.prefix(3) == ["metadata/2.root.json", "metadata/3.root.json", "metadata/4.root.json"]
        )
        #expect(try client.trusted["root.json"] == client.repository.files["3.root.json"])
    }

    @Test("a bad root in a chain leaves the good one before it")
    func badRoot() throws {
        let client = try refreshed(1, mentions: "role root") { client in
            try client.repository.publishRoot()
            try client.repository.rotate(.root)
            let new = client.repository.signers[.root] ?? []
            client.repository.files["3.root.json"] = try Authoring.envelope(
                signing: client.repository.root,
                by: new
            )
        }
        #expect(try version(client, "root") == 2)
        #expect(try client.takeRequests() == ["metadata/2.root.json", "metadata/3.root.json"])
    }

    @Test("an older timestamp or snapshot is refused, and the trusted one stays")
    func rollback() throws {
        let timestamp = try refreshed(0) { try $0.repository.publishTimestamp() }
        timestamp.repository.timestamp.version = 0
        try timestamp.repository.publishTimestamp()
        try timestamp.serve()
        #expect(try timestamp.refresh() == 1)
        #expect(try version(timestamp, "timestamp") == 2)
        let snapshot = try refreshed(0) { try $0.publish() }
        snapshot.repository.snapshot.version = 0
        try snapshot.repository.publishSnapshot()
        try snapshot.serve()
        #expect(try snapshot.refresh() == 1)
        #expect(snapshot.errors.contains("role snapshot: version 2 is already trusted, 1 would go back"))
        #expect(try version(snapshot, "snapshot") == 2)
    }

    @Test("another timestamp of the same version is dropped")
    func sameVersion() throws {
        let client = try refreshed(0) { client in
            client.repository.timestamp.snapshot = MetaFile(version: 100)
            try client.repository.signTimestamp()
        }
        #expect(try client.trusted["timestamp.json"] != client.repository.files["timestamp.json"])
        #expect(try client.takeRequests() == ["metadata/2.root.json", "metadata/timestamp.json"])
    }

    @Test("after a fast-forward, new keys lead back")
    func fastForward() throws {
        let client = try refreshed(0) { client in
            client.repository.timestamp.version = 1 << 60
            try client.repository.publishTimestamp()
        }
        client.repository.timestamp.version = 2
        try client.repository.publishTimestamp()
        try client.serve()
        #expect(try client.refresh() == 1)
        try client.repository.rotate(.timestamp)
        try client.repository.publishRoot()
        try client.repository.publishTimestamp()
        try client.serve()
        #expect(try client.refresh() == 0, "\(client.errors)")
        #expect(try version(client, "timestamp") == 4)
    }

    @Test("too few signatures are refused, also when one key signs many times over")
    func threshold() throws {
        let client = try refreshed(1, mentions: "signed by 1 of its keys, 2 needed") { client in
            let key = try #require(client.repository.signers[.snapshot]?.first)
            // The same key under a second ID: a member that nobody defines changes the digest.
            var object = try #require(KeyObject(key.publicKey).value.object)
            object["x-copy"] = .text("2")
            let copyID = SHA256.digest(of: JSONValue.object(object).olpcCanonical).hex
            var signed = try #require(client.repository.root.signed.object)
            var keys = try #require(signed["keys"]?.object)
            keys[copyID] = .object(object)
            signed["keys"] = .object(keys)
            let ids = [Authoring.keyID(of: key.publicKey), copyID]
            var roles = try #require(signed["roles"]?.object)
            roles["snapshot"] = .members([
                "keyids": .array(ids.map { .text($0) }), "threshold": .integer(2),
            ])
            signed["roles"] = .object(roles)
            client.repository.files["2.root.json"] = try Authoring.envelope(
                signing: .object(signed),
                by: client.repository.signers[.root] ?? []
            )
            try client.repository.publish()
            let snapshot = client.repository.snapshot.signed
            let signature = JSONValue.text(Hex.text(try key.signature(of: snapshot.olpcCanonical)))
            client.repository.files["2.snapshot.json"] =
                JSONValue.members([
                    "signatures": .array(ids.map { .members(["keyid": .text($0), "sig": signature]) }),
                    "signed": snapshot,
                ]).compactJSON
            let bytes = client.repository.files["2.snapshot.json"] ?? []
            client.repository.timestamp.snapshot = MetaFile(version: 2, length: UInt64(bytes.count))
            try client.repository.publishTimestamp()
        }
        #expect(try version(client, "snapshot") == 1)
        #expect(try version(client, "root") == 2)
    }

    @Test("two signatures under one key ID make a file no file")
    func duplicateKeyIDs() throws {
        _ = try refreshed(1, mentions: "two signatures by key") { client in
            try client.repository.publishTimestamp()
            let file = try JSONParser.parse(
                client.repository.files["timestamp.json"] ?? [],
                maximumLength: 1 << 20
            )
            let signature = try #require(file["signatures"]?.array?.first)
            client.repository.files["timestamp.json"] =
                JSONValue.members([
                    "signatures": .array([signature, signature]), "signed": try #require(file["signed"]),
                ]).compactJSON
        }
    }

    @Test("members and key types that nobody knows do no harm; a key under a foreign ID does")
    func unknown() throws {
        func publish(_ client: ClientUnderTest, _ change: (inout JSONObject, String) throws -> Void) throws {
            var signed = try #require(client.repository.root.signed.object)
            var keys = try #require(signed["keys"]?.object)
            let key = try #require(client.repository.signers[.root]?.first)
            try change(&keys, Authoring.keyID(of: key.publicKey))
            signed["keys"] = .object(keys)
            signed["x-unknown"] = .members(["a": .integer(1)])
            let signers = client.repository.signers[.root] ?? []
            client.repository.files["2.root.json"] = try Authoring.envelope(
                signing: .object(signed),
                by: signers
            )
        }
        _ = try refreshed(0) { client in
            try publish(client) { keys, id in
                var key = try #require(keys[id]?.object)
                key["keyid_hash_algorithms"] = .array([.text("md5")])
                keys[id] = .object(key)
                let future = JSONValue.members([
                    "keytype": .text("ml-dsa"), "scheme": .text("ml-dsa-65"),
                    "keyval": .members(["public": .text("AA")]),
                ])
                keys[SHA256.digest(of: future.olpcCanonical).hex] = future
            }
        }
        let refused = try refreshed(1, mentions: "its digest is") { client in
            try publish(client) { keys, id in
                keys[String(id.reversed())] = keys[id]
                keys[id] = nil
            }
        }
        #expect(try version(refused, "root") == 1)
    }

    @Test(
        "an expired role stops the refresh: under the program faketime, by wrapper and by library",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/faketime"), "no faketime"),
        arguments: [["faketime", "-f", "+5d"], ["faketime", "-f", "+10d"]]
    )
    func expiry(wrapper: [String]) throws {
        let client = try ClientUnderTest()
        #expect(try client.initialise() == 0)
        client.wrapper = wrapper
        #expect(try client.refresh() == 1)
        #expect(client.errors.contains("role timestamp: expired"), "\(client.errors)")
        #expect(try client.takeRequests() == ["metadata/2.root.json", "metadata/timestamp.json"])
        #expect(try client.trusted.keys.sorted() == ["root.json"])
        client.wrapper = ["faketime", "-f", "+1d"]
        #expect(try client.refresh() == 0, "\(client.errors)")
    }

    @Test("a terminating delegation ends the search; the first match in order wins")
    func terminating() throws {
        let client = try ClientUnderTest()
        for (role, ends) in [("first", false), ("second", true), ("third", false)] {
            try client.repository.delegate(RoleName(role), by: .targets, paths: ["x/*"], terminating: ends)
        }
        client.add("x/both", "of the first", to: RoleName("first"))
        client.repository.roles[RoleName("second")]?.targets["x/both"] = TargetFile(of: [1])
        client.add("x/third", "never", to: RoleName("third"))
        try client.publish()
        #expect(try client.initialise() == 0)
        #expect(try client.download(["x/both"]) == 0)
        #expect(try client.takeRequests().filter { $0.hasSuffix("second.json") } == [])
        #expect(try client.download(["x/third"]) == 1)
        #expect(try client.takeRequests().last == "metadata/1.second.json")
        #expect(try client.download(["x/deep/er"]) == 1)
    }

    @Test("a targets file above the limit is refused, also with its length signed; the option raises it")
    func targetsLimit() throws {
        let client = try ClientUnderTest()
        let file = TargetFile(of: [])
        var targets: [TargetPath: TargetFile] = [:]
        for index in 0..<50_000 { targets[TargetPath("models/\(index)/model.bin")] = file }
        client.repository.roles[.targets]?.targets = TargetList(targets)
        try client.publish()
        #expect(try client.initialise() == 0)
        #expect(try client.refresh() == 1)
        #expect(try client.trusted["targets.json"] == nil)
        #expect(try client.refresh(["--targets-limit", "32000001"]) == 1)
        #expect(try client.refresh(["--targets-limit", "32000000"]) == 0, "\(client.errors)")
        #expect(try client.trusted["targets.json"] == client.repository.files["2.targets.json"])
    }

    @Test("metadata without end is left at its limit")
    func endless() throws {
        _ = try refreshed(1, mentions: "longer than the 16384 bytes allowed") { client in
            client.repository.files["timestamp.json"] = nil
            client.repository.files["timestamp.json.endless"] = []
        }
    }

    @Test(
        "killed at any point of writing, the next run goes on",
        arguments: ["write.created", "write.synchronized", "write.renamed"],
        [
            "2.root.json", "/root.json", "timestamp.json", "snapshot.json", "targets.json", "team.json",
            "poll-state",
        ]
    )
    func crash(point: String, file: String) throws {
        let client = try refreshed(0) { client in
            try client.repository.delegate(RoleName("team"), by: .targets, paths: ["team/*"])
            client.add("team/a", "a", to: RoleName("team"))
            try client.publish()
        }
        #expect(try client.download(["team/a"]) == 0, "\(client.errors)")
        let before = try client.trusted
        try client.repository.publishRoot()
        try client.publish()
        client.environment["SEALIFT_CRASH_AT"] = "\(point):\(file)"
        #expect(try client.download(["team/a"]) < 0)
        // Each file is the old one or the new one, whole.
        let files = Set(client.repository.files.values).union(before.values)
        let between = try client.trusted
        #expect(between.keys.sorted() == before.keys.sorted())
        #expect(between.values.allSatisfy { files.contains($0) })
        client.environment["SEALIFT_CRASH_AT"] = nil
        #expect(try client.download(["team/a"]) == 0, "\(client.errors)")
        #expect(try version(client, "root") == 2)
        #expect(try version(client, "snapshot") == 3)
        #expect(try version(client, "team") == 2)
    }
}

@Suite(
    "tuf-client against python-tuf's repository",
    .serialized,
    .enabled(if: PythonPeer.python != nil, PythonPeer.isAbsent)
)
struct TUFClientPeerTests {
    @Test("it downloads every target through every kind of delegation", arguments: ["consistent", "plain"])
    func downloads(kind: String) throws {
        let client = try ClientUnderTest()
        let expected = try #require(
            try PythonPeer.run("tuf_repository.py", [client.scratch.path("files2"), kind]).object
        )
        let files = client.scratch.path("files")
        try FileManager.default.removeItem(atPath: files)
        try FileManager.default.moveItem(atPath: client.scratch.path("files2"), toPath: files)
        #expect(try client.initialise(try client.scratch.read("files/metadata/1.root.json")) == 0)
        for member in expected.members {
            let path = member.key.string
            var parts = path.split(separator: "/").map { ClientUnderTest.quoted(String($0)) }
            let name = parts.removeLast()
            let prefix = kind == "consistent" ? (member.value.string ?? "") + "." : ""
            try client.scratch.write(
                "files/targets/" + (parts + [prefix + name]).joined(separator: "/"),
                Array("content".utf8)
            )
        }
        let paths = expected.members.map(\.key.string)
        #expect(try client.download(paths) == 0, "\(client.errors)")
        #expect(try client.downloads.count == 7)
        #expect(Set(try client.downloads.values) == ["content"])
        #expect(try client.trusted["team%2Finner.json"] != nil)
    }
}
