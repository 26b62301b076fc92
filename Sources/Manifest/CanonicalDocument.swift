package import CanonicalJSON
import Names

/// A document that has exactly one written form: RFC 8785, ASCII keys, integers within ±(2^53 - 1).
///
/// Its identity is the digest of its bytes, so two ways to write one thing
/// would be two things. Taken only when the bytes are those that `canonical`
/// would write again. Members that version 1 does not have are refused at
/// every level: a reader that skipped one could miss a restriction that the
/// signer relied on; new members come with a new `type`. The exceptions are
/// `provenance`, `preprocessing`, `postprocessing` and each element of
/// `checks`, whose content is carried as it stands.
package protocol CanonicalDocument: Sendable, Equatable {
    static var documentType: DocumentType { get }

    /// In bytes.
    static var maximumLength: Int { get }

    /// Reads and checks every rule of the document.
    init(json: JSONValue) throws(ManifestError)

    var json: JSONValue { get }
}

extension CanonicalDocument {
    package static var maximumLength: Int { Int(Limits.manifest.rawValue) }

    /// Takes a document that is its own canonical form and obeys every rule.
    ///
    /// - Parameter bytes: The document as received; nothing is kept of them but what they say.
    /// - Throws: `ManifestError`: the first thing that is wrong.
    package init(canonical bytes: [UInt8]) throws(ManifestError) {
        let type = Self.documentType
        guard bytes.count <= Self.maximumLength else {
            throw .tooLong(type, found: bytes.count, limit: Self.maximumLength)
        }
        let value: JSONValue
        do { value = try JSONParser.parse(bytes, maximumLength: Self.maximumLength) } catch {
            throw .notJSON(type, error)
        }
        if let beyond = value.firstBeyondRFC8785 {
            throw Place(type, Shown.short(beyond.path)).invalid(
                beyond.isKey
                    ? "named in ASCII alone; say it in the value instead"
                    : "an integer from -(2^53 - 1) to 2^53 - 1; say it as text instead",
                beyond.found
            )
        }
        guard value.compactJSON == bytes else { throw .notCanonical(type) }
        self = try Self(json: value)
        guard canonical == bytes else { throw .notCanonical(type) }
    }

    /// The document's only written form.
    package var canonical: [UInt8] { json.compactJSON }

    /// The bytes to sign, after every rule has been checked on what was put together here.
    ///
    /// - Throws: `ManifestError`, exactly when a reader would refuse the bytes.
    package func encoded() throws(ManifestError) -> [UInt8] {
        let bytes = canonical
        _ = try Self(canonical: bytes)
        return bytes
    }

    /// A reader of the members of `json`, after its `type` was found to be this document's.
    static func reader(_ json: JSONValue) throws(ManifestError) -> MemberReader {
        var reader = try MemberReader(json, at: Place(documentType))
        _ = try reader.parsed("type", "\"\(documentType.rawValue)\"") {
            $0 == documentType.rawValue ? $0 : nil
        }
        return reader
    }
}
