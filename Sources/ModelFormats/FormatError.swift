package import Manifest
package import Names

/// Why a model file is not read.
package enum FormatError: Error, Equatable, Sendable {
    /// The system could not give the bytes: try again.
    case unreadable(ByteSourceError)

    /// The bytes break the rules of their format.
    case malformed(ModelFormat, field: String, offset: UInt64, Malformation)

    /// More of something than any honest model has; nothing is cut short.
    case limit(ModelFormat, which: String, found: UInt64, limit: UInt64)

    /// Legal in the format, and not taken here.
    case refused(ModelFormat, field: String, offset: UInt64, Refusal)

    /// The content is of another format than was said.
    case disagrees(declared: ModelFormat, found: ModelFormat)

    /// There is no reader for the format in this version, and nothing to tell the content by.
    case noReader(ModelFormat)

    package enum Malformation: Equatable, Sendable {
        case endsEarly, beyondParent
        case badFieldNumber, badWireType, group, varintTooLong
        case wrongWireType
        case duplicate, contradiction
        case missing
        case badText, badName, duplicateName
        case notADecimal
        case outOfRange
        case unknownElementType(UInt64)
    }

    package enum Refusal: Equatable, Sendable {
        /// A name outside the folder of the model, or not a plain one.
        case externalLocation(String)
        case externalOverlap(String)
        case trainingInfo

        /// A node that holds a compiled blob for one device.
        case deviceContext
        case operatorDomain(String)
    }
}

extension FormatError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(.outOfBounds(let offset, let count, let length)):
            "cannot read \(count) bytes at \(offset): the file has \(length)"
        case .unreadable(.unreadable(let code)): "cannot read the file (system error \(code))"
        case .malformed(let format, let field, let offset, let what):
            "not a valid \(format.rawValue) file: \(field) at byte \(offset): \(what.description)"
        case .limit(let format, let which, let found, let limit):
            "this \(format.rawValue) file has \(which) \(found), the limit is \(limit)"
        case .refused(let format, let field, let offset, let what):
            "this \(format.rawValue) file is refused: \(field) at byte \(offset): \(what.description)"
        case .disagrees(let declared, let found):
            "declared as \(declared.rawValue), but the content is \(found.rawValue)"
        case .noReader(let format):
            "\(format.rawValue) files cannot be read by this version; declare the variant opaque to publish it"
        }
    }
}

extension FormatError.Malformation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .endsEarly: "the file ends in the middle of it"
        case .beyondParent: "it is longer than what contains it"
        case .badFieldNumber: "a field number that does not exist"
        case .badWireType: "a wire type that does not exist"
        case .group: "a group, which no model uses"
        case .varintTooLong: "a number of more than 64 bits"
        case .wrongWireType: "another kind of value than the format has there"
        case .duplicate: "it stands twice, and readers would differ on which counts"
        case .contradiction: "two values that exclude each other"
        case .missing: "it is missing"
        case .badText: "text that is not UTF-8"
        case .badName: "a name that is empty, too long or has control characters"
        case .duplicateName: "a name that stands twice, or looks like another"
        case .notADecimal: "not a decimal number from 0 up"
        case .outOfRange: "a number out of range"
        case .unknownElementType(let number): "an unknown element type, \(number)"
        }
    }
}

extension FormatError.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .externalLocation(let location):
            "external data at `\(location)`; it must be a plain file in the folder of the model"
        case .externalOverlap(let location): "two tensors share part of the bytes of `\(location)`"
        case .trainingInfo: "it holds training information; export the model for inference"
        case .deviceContext: "an EPContext node, which holds code for one device; publish the portable model"
        case .operatorDomain(let domain):
            "operators of the domain `\(domain)`, which need code that is not part of the model"
        }
    }
}
