package import CanonicalJSON
import Names

/// `sealift/check-answer@1`: what became of golden vectors in a process that was asked to run them.
///
/// Taken as bytes from outside: only in canonical form and with the members below.
package struct CheckAnswer: CanonicalDocument {
    package static let documentType = DocumentType.checkAnswer

    /// Outputs that were recorded are the longest part of an answer.
    package static let maximumLength = 48 << 20

    package enum Outcome: Equatable, Sendable {
        /// All of them were reproduced.
        case passed

        /// One was not, or the model could not be tried at all; why, for people.
        case failed(String)

        /// The system could not give the bytes of a vector, for people.
        case unreadable(String)

        /// Of each vector the elements of each output, by name.
        case recorded([[String: [UInt8]]])
    }

    /// Bytes of a reason.
    package static let longestReason = 8_192

    package var outcome: Outcome

    package init(_ outcome: Outcome) { self.outcome = outcome }

    package init(json: JSONValue) throws(ManifestError) {
        var reader = try Self.reader(json)
        let limit = "text of at most \(Self.longestReason) bytes"
        let failed = try reader.optionalParsed("failed", limit) { Self.reason($0) }
        let unreadable = try reader.optionalParsed("unreadable", limit) { Self.reason($0) }
        let passed = reader.optional("passed")
        let hasRecord = json["recorded"] != nil
        var recorded: [[String: [UInt8]]] = []
        for (value, place) in try reader.optionalArray("recorded") {
            var outputs: [String: [UInt8]] = [:]
            guard let object = value.object else { throw place.invalid("an object", value) }
            for member in object.members {
                guard let bytes = member.value.string.flatMap({ Base64.bytes($0) }) else {
                    throw place.member(member.key.string).invalid("bytes in base64", member.value)
                }
                outputs[member.key.string] = bytes
            }
            recorded.append(outputs)
        }
        try reader.finish()
        switch (passed, failed, unreadable, hasRecord) {
        case (.bool(true)?, nil, nil, false): outcome = .passed
        case (nil, let reason?, nil, false): outcome = .failed(reason)
        case (nil, nil, let reason?, false): outcome = .unreadable(reason)
        case (nil, nil, nil, true): outcome = .recorded(recorded)
        default:
            throw reader.place.invalid(
                "exactly one of `passed`, `failed`, `unreadable` and `recorded`",
                "another number"
            )
        }
    }

    private static func reason(_ text: String) -> String? { text.utf8.count <= longestReason ? text : nil }

    package var json: JSONValue {
        var object = JSONObject()
        object["type"] = .text(Self.documentType.rawValue)
        switch outcome {
        case .passed: object["passed"] = .bool(true)
        case .failed(let reason): object["failed"] = .text(Self.shortened(reason))
        case .unreadable(let reason): object["unreadable"] = .text(Self.shortened(reason))
        case .recorded(let vectors):
            object["recorded"] = .array(
                vectors.map { outputs in
                    var members = JSONObject()
                    for (name, bytes) in outputs { members[name] = .text(Base64.text(bytes)) }
                    return .object(members)
                }
            )
        }
        return .object(object)
    }

    private static func shortened(_ reason: String) -> String {
        reason.utf8.count <= longestReason
            ? reason : String(decoding: reason.utf8.prefix(longestReason / 2), as: UTF8.self) + "…"
    }
}
