package import CanonicalJSON

/// The documents of this module, by the value of their member `type`.
package enum DocumentType: String, Sendable, CaseIterable {
    case manifest = "sealift/manifest@1"
    case live = "sealift/live@1"
    case settings = "sealift/settings@1"
    case hold = "sealift/hold@1"
    case card = "sealift/card@1"
    case expectation = "sealift/expectation@1"
    case interface = "sealift/interface@1"
    case readingRequest = "sealift/reading-request@1"
    case reading = "sealift/reading@1"
    case checkRequest = "sealift/check-request@1"
    case checkAnswer = "sealift/check-answer@1"
}

/// Why a document is refused; nothing is ever half taken.
package enum ManifestError: Error, Equatable, Sendable {
    case notJSON(DocumentType, JSONError)

    /// The bytes are not the one form in which this document may be written.
    case notCanonical(DocumentType)
    case missing(DocumentType, member: String)

    /// A member that version 1 of the document does not have.
    case unknown(DocumentType, member: String)
    case invalid(DocumentType, member: String, expected: String, found: String)

    /// The document stands at a place that belongs to another.
    case misplaced(DocumentType, expected: String, found: String)
    case tooLong(DocumentType, found: Int, limit: Int)

    /// An edit that would break a rule of the document; the document is unchanged.
    case editRefused(DocumentType, reason: String)

    /// The length of a block list does not follow from the file's length.
    case blockList(expected: UInt64, found: UInt64)
}

extension ManifestError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notJSON(let document, let error): "\(document.rawValue): \(error)"
        case .notCanonical(let document):
            "\(document.rawValue): the bytes are not the canonical form (RFC 8785) of what they say;"
                + " only a document exactly as Sealift writes it is taken"
        case .missing(let document, let member): "\(document.rawValue): `\(member)` is missing"
        case .unknown(let document, let member):
            "\(document.rawValue): `\(member)` is not a member that this version knows"
        case .invalid(let document, let member, let expected, let found):
            "\(document.rawValue): `\(member)` must be \(expected), found \(found)"
        case .misplaced(let document, let expected, let found):
            "\(document.rawValue): the document belongs at \(expected), found at \(found)"
        case .tooLong(let document, let found, let limit):
            "\(document.rawValue): \(found) bytes, the limit is \(limit)"
        case .editRefused(let document, let reason): "\(document.rawValue): \(reason)"
        case .blockList(let expected, let found):
            "the block list must have \(expected) bytes by the length of its file, found \(found)"
        }
    }
}
