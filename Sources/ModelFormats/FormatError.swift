package import Manifest
package import Names

/// Why a model file is not read.
package enum FormatError: Error, Equatable, Sendable {
    /// The system could not give the bytes: try again.
    case unreadable(ByteSourceError)

    /// The bytes break the rules of their format.
    case malformed(ModelFormat, field: String, offset: UInt64, Malformation)

    /// More of something than any honest model has; nothing is cut short.
    case limit(ModelFormat, which: String, offset: UInt64, found: UInt64, limit: UInt64)

    /// Legal in the format, and not taken here.
    case refused(ModelFormat, field: String, offset: UInt64, Refusal)

    /// The content is of another format than was said.
    case disagrees(declared: ModelFormat, found: ModelFormat)

    /// Files of one variant that do not belong together, or do not suffice.
    case files(ModelFormat, VariantProblem)

    package enum Malformation: Equatable, Sendable {
        case endsEarly, beyondParent
        case badFieldNumber, badWireType, group, varintTooLong
        case wrongWireType
        case duplicate, contradiction
        case missing
        case badText, badName, duplicateName
        case badMagic, byteSwapped, unknownVersion(UInt64), unknownVersionName(String)

        /// An offset or index that leads outside of what it refers to.
        case badReference
        case unexpectedByte
        case misaligned
        case overlap, gap, trailingBytes
        case wrongLength(expected: UInt64, found: UInt64)
        case wrongCount(expected: UInt64, found: UInt64)
        case nestedArray
        case notFinite
        case unknownValueType(UInt64)
        case unknownTypeName(String)
        case notADecimal
        case outOfRange
        case unknownElementType(UInt64)

        /// Of a domain whose operators are the model's own functions.
        case undefinedOperator
        case recursion

        /// A value of a graph that is given or used before anything makes it, or that two things make.
        case neverMade, madeTwice
    }

    package enum Refusal: Equatable, Sendable {
        /// A name outside the folder of the model, or not a plain one.
        case externalLocation(String)
        case externalOverlap(String)

        /// A file that says that its weights lie in itself.
        case externalItself

        /// Longer than the parsers of every runtime take.
        case beyondProtobuf(UInt64)
        case trainingInfo

        /// A node that holds a compiled blob for one device.
        case deviceContext
        case operatorDomain(String)

        /// A kind of model that runs code from elsewhere, or refers to files outside.
        case modelKind(String)
        case trainable
    }

    package enum VariantProblem: Equatable, Sendable {
        case noModel
        case severalModels([String])
        case missing(String, neededBy: String)
        case tooShort(String, found: UInt64, needed: UInt64, neededBy: String)

        /// A file that belongs to no part of the model.
        case stray(String)

        /// Files of one set that say different things.
        case contradiction(String, String)

        /// A file that runs code of its author when it is opened.
        case pickle(String)
        case badEntry(declared: String, found: String)
        case entryUnknown
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
        case .limit(let format, let which, let offset, let found, let limit):
            "this \(format.rawValue) file has \(which) \(found) (at byte \(offset)), the limit is \(limit)"
        case .refused(let format, let field, let offset, let what):
            "this \(format.rawValue) file is refused: \(field) at byte \(offset): \(what.description)"
        case .disagrees(let declared, let found):
            "declared as \(declared.rawValue), but the content is \(found.rawValue)"
        case .files(let format, let problem): problem.text(format)
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
        case .badMagic: "it does not start as the format says"
        case .byteSwapped: "its bytes are in big-endian order; convert it to little-endian"
        case .unknownVersion(let number): "version \(number), which this reader does not know"
        case .unknownVersionName(let name): "version `\(name)`, which this reader does not know"
        case .badReference: "it leads outside the part of the file where it must lead to"
        case .unexpectedByte: "a byte that cannot stand there"
        case .misaligned: "it is not at a multiple of the alignment"
        case .overlap: "it shares bytes with something else"
        case .gap: "there are bytes before it that belong to nothing"
        case .trailingBytes: "there are bytes after it that belong to nothing"
        case .wrongLength(let expected, let found): "it needs \(expected) bytes and has \(found)"
        case .wrongCount(let expected, let found): "it needs \(expected) values and has \(found)"
        case .nestedArray: "an array inside an array"
        case .notFinite: "a number that is not finite"
        case .unknownTypeName(let name): "an unknown element type, `\(name)`"
        case .unknownValueType(let number): "an unknown type of value, \(number)"
        case .undefinedOperator: "an operator that no function of the model defines"
        case .recursion: "a function that calls itself, directly or through others"
        case .neverMade: "no input, initializer or node before it makes this value; export the model again"
        case .madeTwice: "a value that was made before; export the model again"
        }
    }
}

extension FormatError.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .externalLocation(let location):
            "external data at `\(location)`; it must be a plain file in the folder of the model"
        case .externalOverlap(let location): "two tensors share part of the bytes of `\(location)`"
        case .externalItself: "external data in the model file itself; put it inside, or into another file"
        case .beyondProtobuf(let length):
            "it has \(length) bytes, and no runtime takes an ONNX file over 2 GiB; put the weights into external files"
        case .trainingInfo: "it holds training information; export the model for inference"
        case .deviceContext: "an EPContext node, which holds code for one device; publish the portable model"
        case .operatorDomain(let domain):
            "operators of the domain `\(domain)`, which need code that is not part of the model"
        case .modelKind(let kind):
            "a model of the kind \(kind), which needs code or files that are not part of it"
        case .trainable: "it can be trained on the device; export the model for inference"
        }
    }
}

extension FormatError.VariantProblem {
    func text(_ format: ModelFormat) -> String {
        switch self {
        case .noModel:
            "none of the files is a model that can be read; declare the variant opaque to publish it"
        case .severalModels(let paths):
            "there are \(paths.count) models (\(paths.prefix(8).joined(separator: ", "))"
                + "\(paths.count > 8 ? ", …" : "")); publish each as a model or a variant of its own"
        case .missing(let path, let user): "\(user) needs \(path), which is not among the files"
        case .tooShort(let path, let found, let needed, let user):
            "\(path) has \(found) bytes, and \(user) needs \(needed) of it"
        case .stray(let path): "\(path) belongs to no part of the \(format.rawValue) model; take it out"
        case .contradiction(let path, let what): "\(path) does not fit the other files: \(what)"
        case .pickle(let path):
            "\(path) is a Python pickle, which runs its author's code when it is opened; convert it "
                + "(safetensors), or declare the variant opaque"
        case .entryUnknown:
            "there are several files, and nothing says which of them is the entry; say it in the card, `entry` of the "
                + "variant"
        case .badEntry(let declared, let found):
            "the entry is said to be \(declared), and the model's is \(found)"
        }
    }
}
