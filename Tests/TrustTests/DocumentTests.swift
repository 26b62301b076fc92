import CanonicalJSON
import Names
import Signing
import Support
import Testing
import Trust

@Suite("Documents")
struct DocumentTests {
    private let key: SoftwareKey

    init() throws { key = try SoftwareKey.generate(.ed25519) }

    private func quorum(_ role: RoleName) -> Quorum {
        Quorum(role: role, keys: [Authoring.keyID(of: key.publicKey): key.publicKey], threshold: 1)
    }

    private func verified<Document: SignedDocument>(
        _ signed: JSONValue,
        _ role: RoleName,
        as: Document.Type
    ) throws(TrustError) -> Document {
        let bytes = try Authoring.envelope(signing: signed, by: [key])
        return try Untrusted<Document>(bytes).verified(by: quorum(role)).document
    }

    @Test("a root that no root could follow is refused before anything is asked for")
    func lastVersion() throws {
        var root = try SimulatedRepository.sealift(try #require(World.detector), now: World.start).root
        root.version = .max
        #expect(throws: TrustError.self) { try verified(root.signed, .root, as: RootDocument.self) }
        root.version = .max - 1
        #expect(try verified(root.signed, .root, as: RootDocument.self).version == .max - 1)
    }

    @Test("every document survives being written, signed, verified and read")
    func roundTrip() throws {
        let model = try #require(World.detector)
        var repository = try SimulatedRepository.sealift(model, now: World.start)
        let digest = SHA256.digest(of: [])
        repository.roles[.vision]?.deny = [
            Denial(
                model: model,
                subject: .versions([ModelVersion(major: 1, minor: 0, patch: 0)]),
                reason: "leaks",
                since: World.start
            ),
            Denial(model: model, subject: .manifest(digest), reason: "", since: World.start),
        ]
        repository.roles[.live]?.targets["vision/detector/live.json"]?.custom = .members(["x": .integer(1)])
        #expect(try verified(repository.root.signed, .root, as: RootDocument.self) == repository.root)
        #expect(
            try verified(repository.timestamp.signed, .timestamp, as: TimestampDocument.self)
                == repository.timestamp
        )
        #expect(
            try verified(repository.snapshot.signed, .snapshot, as: SnapshotDocument.self)
                == repository.snapshot
        )
        for (role, document) in repository.roles {
            #expect(try verified(document.signed, role, as: TargetsDocument.self) == document)
        }
    }

    @Test("a key ID is the digest of the canonical key object")
    func keyID() throws {
        let zeros = [UInt8](repeating: 0, count: 32)
        let id = "7f7373360bc914a5d4a7bd87711615178beb6cf52494fcc49082ec65ba62908c"
        #expect(Authoring.keyID(of: try #require(PublicKey(rawEd25519: zeros))) == id)
    }

    @Test("white space, other members and their order do not matter; the bytes are kept as received")
    func foreignTools() throws {
        var timestamp = try #require(
            TimestampDocument(version: 3, expires: World.start, issued: nil, snapshot: MetaFile(version: 2))
                .signed.object
        )
        timestamp["x-other"] = .array([.null, .bool(true), .text("\u{1F600}")])
        let message = JSONValue.object(timestamp).olpcCanonical
        let signature = Hex.text(try key.signature(of: message))
        let signed = String(decoding: JSONValue.object(timestamp).compactJSON, as: UTF8.self)
        let id = Authoring.keyID(of: key.publicKey)
        let bytes = Array(
            """
            { "signed": \(signed),\n "signatures" : [ {"sig": "\(signature)", "keyid": "\(id)", "method": 1},
              {"sig": "", "keyid": "00"}, {"sig": "zz", "keyid": "01"} ], "more": 0 }

            """.utf8
        )
        let verified = try Untrusted<TimestampDocument>(bytes).verified(by: quorum(.timestamp))
        #expect(verified.document.version == 3)
        #expect(verified.bytes == bytes)
        #expect(verified.signers == [id])
    }

    @Test(
        "a signed document that is not what its role asks for is refused",
        arguments: [
            ("_type", .text("snapshot")), ("_type", nil), ("spec_version", .text("2.0.0")),
            ("spec_version", .text("1")), ("spec_version", .text("1.x")), ("spec_version", .integer(1)),
            ("version", .integer(0)), ("version", .text("1")),
            ("version", .bigInteger(Array("9223372036854775808".utf8))),
            ("version", nil), ("expires", .text("2026-11-30T02:00:00")),
            ("expires", .text("2026-11-30T02:00:00.5Z")),
            ("expires", nil), ("meta", .object(JSONObject())), ("meta", nil),
            ("meta", .members(["snapshot.json": .members(["version": .integer(0)])])),
            (
                "meta",
                .members(["snapshot.json": .members(["version": .integer(1), "length": .integer(-1)])])
            ),
            (
                "meta",
                .members([
                    "snapshot.json": .members(["version": .integer(1)]),
                    "x.json": .members(["version": .integer(1)]),
                ])
            ),
            (
                "meta",
                .members([
                    "snapshot.json": .members(["version": .integer(1), "hashes": .object(JSONObject())])
                ])
            ),
        ] as [(String, JSONValue?)]
    )
    func refused(member: String, value: JSONValue?) throws {
        let document = TimestampDocument(
            version: 1,
            expires: World.start,
            issued: nil,
            snapshot: MetaFile(version: 1)
        )
        var signed = try #require(document.signed.object)
        signed[member] = value
        #expect(throws: TrustError.self) {
            try verified(.object(signed), .timestamp, as: TimestampDocument.self)
        }
    }

    @Test(
        "an envelope that two readers could read differently is refused",
        arguments: [
            "", "{}", "[]", #"{"signed":{},"signatures":[]} x"#,
            #"{"signed":{},"signed":{},"signatures":[]}"#,
            #"{"signed":{"a":1,"\u0061":2},"signatures":[]}"#, #"{"signed":{"a":1.0},"signatures":[]}"#,
            #"{"signed":[],"signatures":[]}"#, #"{"signed":{},"signatures":{}}"#, #"{"signed":{}}"#,
            #"{"signed":{},"signatures":[{"keyid":"a"}]}"#, #"{"signed":{},"signatures":[1]}"#,
            #"{"signed":{"a":"\ud800"},"signatures":[]}"#,
        ]
    )
    func envelope(text: String) throws {
        let error = #expect(throws: TrustError.self) {
            try Untrusted<TimestampDocument>(Array(text.utf8)).verified(by: quorum(.timestamp))
        }
        guard case .malformed(role: .timestamp, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("nesting is bounded: depth 65 is refused without recursion to the end")
    func depth() {
        let text = #"{"signatures":[],"signed":{"a":"# + String(repeating: "[", count: 7_000)
        #expect(throws: TrustError.self) {
            try Untrusted<TimestampDocument>(Array(text.utf8)).verified(by: quorum(.timestamp))
        }
    }

    @Test(
        "delegations that are no delegations are refused",
        arguments: ["root", "timestamp", "snapshot", "targets", ""]
    )
    func delegationName(name: String) throws {
        let document = TargetsDocument(
            version: 1,
            expires: World.start,
            targets: [:],
            delegations: Delegations(
                keys: [],
                roles: [Delegation(name: name, keyIDs: [], threshold: 1, paths: ["*"], terminating: true)]
            )
        )
        #expect(throws: TrustError.self) { try verified(document.signed, .targets, as: TargetsDocument.self) }
    }

    @Test(
        "a path's bin is named by the first bits of its digest",
        arguments: [(8, "bin-a7"), (10, "bin-29c"), (1, "bin-1"), (32, "bin-a7074307")]
    )
    func bins(bits: Int, name: String) throws {
        let bins = SuccinctRoles(keyIDs: [], threshold: 1, bitLength: bits, namePrefix: "bin")
        let bin = bins.role(for: "models/a/1/model.bin")
        #expect(bin.description == name)
        #expect(bins.contains(bin))
        for foreign in ["bin", "bin-", "bin-0000000000", "bun-a7", "bin-A7", "bin-+a7", "bin-100000000"] {
            #expect(!bins.contains(RoleName(foreign)), "\(foreign)")
        }
    }
}
