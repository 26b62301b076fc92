/// Why bytes are not the JSON that Sealift takes, and where.
package struct JSONError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        case tooLong(found: Int, limit: Int)
        case tooDeep(limit: Int)
        case endsEarly, unexpectedByte, trailingBytes
        case duplicateKey
        case leadingZero, notAnInteger
        case invalidUTF8, controlCharacter, badEscape, loneSurrogate
    }

    package let reason: Reason

    /// Bytes from the start of the document.
    package let offset: Int

    /// The member that it is about, such as `models[1].model`, where that can be told.
    package let member: String?

    init(reason: Reason, offset: Int, member: String? = nil) {
        self.reason = reason
        self.offset = offset
        self.member = member
    }
}

extension JSONError: CustomStringConvertible {
    package var description: String { "not valid JSON: \(what) (byte \(offset))" }

    /// What is wrong, without the place.
    package var what: String {
        switch reason {
        case .tooLong(let found, let limit): "it has \(found) bytes, the limit is \(limit)"
        case .tooDeep(let limit): "it nests deeper than \(limit)"
        case .endsEarly: "it ends early"
        case .unexpectedByte: "an unexpected byte"
        case .trailingBytes: "bytes after the end of the value"
        case .duplicateKey: "an object that has a key twice\(member.map { ", `\($0)`" } ?? "")"
        case .leadingZero: "a number with a leading zero"
        case .notAnInteger: "a number that is not a plain integer"
        case .invalidUTF8: "text that is not UTF-8"
        case .controlCharacter: "a control character in text"
        case .badEscape: "an unknown escape in text"
        case .loneSurrogate: "half of a surrogate pair"
        }
    }
}
