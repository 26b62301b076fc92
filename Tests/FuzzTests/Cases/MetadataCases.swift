import CanonicalJSON
import Names
import Signing
import Trust

extension FuzzTarget {
    static let metadata = [
        FuzzTarget("envelope") { bytes in
            let quorum = Quorum(role: .targets, keys: ["a": genuine.publicKey], threshold: 1)
            let verified = try Untrusted<TargetsDocument>(bytes).verified(by: quorum)
            try hold(verified.bytes == bytes, "what is kept is what was received")
            try hold(verified.document.signed == genuine.document, "nobody but the key's owner signs")
        },
        FuzzTarget("root") { bytes in
            try decode(bytes, as: RootDocument.self, role: .root) { try SealiftShapes.check(root: $0) }
        },
        FuzzTarget("timestamp") { bytes in
            try decode(bytes, as: TimestampDocument.self, role: .timestamp) { _ in }
        },
        FuzzTarget("snapshot") { bytes in
            try decode(bytes, as: SnapshotDocument.self, role: .snapshot) {
                try SealiftShapes.check(snapshot: $0)
            }
        },
        FuzzTarget("targets") { bytes in
            let path = TargetPath("vision/detector/1.0.0.json")
            try decode(bytes, as: TargetsDocument.self, role: .targets) { document in
                for name in ["targets", "vision", "vision~detector", "vision~detector~live", "sealift~hold"] {
                    guard let role = SealiftRole(name: name) else { throw Broken(rule: "\(name) is a role") }
                    try? SealiftShapes.check(role, document: document)
                }
                for delegation in document.delegations?.roles ?? [] {
                    _ = delegation.covers(path)
                    _ = try document.quorum(for: delegation.role, named: .targets)
                }
            }
        },
    ]

    /// Decodes a `signed`, and what the decoded document would sign.
    private static func decode<Document: SignedDocument & Equatable>(
        _ bytes: [UInt8],
        as: Document.Type,
        role: RoleName,
        _ further: (Document) throws -> Void
    ) throws {
        let value = try JSONParser.parse(bytes, maximumLength: bytes.count)
        let document = try Document(signed: value, role: role)
        let written = document.signed
        let again = try must("what a document signs is a document") {
            try Document(signed: written, role: role)
        }
        // What cannot be read in `deny` is not written again; shapes refuse the whole document for it.
        guard (document as? TargetsDocument)?.hasMalformedDeny != true else { return }
        try hold(again == document, "what a document signs says the same")
        try hold(again.signed == written, "a document has one form")
        try further(document)
    }

    /// A key, and the one document that it signed; its file is in the corpus.
    private static let genuine: (publicKey: PublicKey, document: JSONValue) = {
        let hex = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
        guard let key = PublicKey(keytype: "ed25519", scheme: "ed25519", publicText: hex),
            let expiry = UnixTime("2027-01-01T00:00:00Z")
        else { preconditionFailure("the constants of this file are a key and a time") }
        return (key, TargetsDocument(version: 1, expires: expiry, targets: [:]).signed)
    }()
}
