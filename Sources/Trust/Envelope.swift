import CanonicalJSON
package import Names

/// The file around a signed document: `{"signatures": [{"keyid", "sig"}], "signed": {…}}` (TUF 1.0.34, 4.2.1).
struct Envelope {
    struct Signature {
        let keyID: String
        let bytes: [UInt8]
    }

    let signed: JSONValue
    let signatures: [Signature]

    /// Parses a file of `role`, no longer than that role may be unless another limit is given.
    ///
    /// A signature that is not hexadecimal is left out: it cannot be valid, and
    /// tools write empty ones as placeholders.
    init(_ bytes: [UInt8], role: RoleName, maximumLength: ByteCount? = nil) throws(TrustError) {
        let limit = (maximumLength ?? role.maximumLength).rawValue
        guard UInt64(bytes.count) <= limit else {
            throw .tooLong(role: role, found: bytes.count, limit: limit)
        }
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes, maximumLength: bytes.count, maximumDepth: 64)
        } catch {
            throw .malformed(role: role, reason: error.description)
        }
        let fields = try Fields(value, role: role, place: "file")
        guard let signed = fields.object["signed"], signed.object != nil else {
            throw fields.malformed("signed", "an object")
        }
        guard let count = fields.object.elementCount(of: "signatures") else {
            throw fields.malformed("signatures", "a list")
        }
        guard count <= Limits.signatures else {
            throw fields.malformed("signatures", "a list of at most \(Limits.signatures), found \(count)")
        }
        let listed = fields.object["signatures"]?.array ?? []
        var signatures: [Signature] = []
        var seen: Set<JSONText> = []
        for entry in listed {
            let entry = try Fields(entry, role: role, place: "signatures")
            let keyID = try entry.text("keyid")
            guard seen.insert(JSONText(keyID)).inserted else {
                throw .duplicateSignature(role: role, keyID: keyID)
            }
            guard let bytes = Hex.bytes(try entry.text("sig")), !bytes.isEmpty else { continue }
            signatures.append(Signature(keyID: keyID, bytes: bytes))
        }
        self.signed = signed
        self.signatures = signatures
    }
}

extension RoleName {
    /// The greatest length of a file of this role, whatever its parent says.
    package var maximumLength: ByteCount {
        switch self {
        case .root: Limits.root
        case .timestamp: Limits.timestamp
        case .snapshot: Limits.snapshot
        case .targets, .delegated: Limits.targets
        }
    }
}
