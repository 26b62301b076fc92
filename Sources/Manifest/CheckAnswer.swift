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

        /// One was not, and that is what the model does; why, for people.
        case failed(String)

        /// The model could not be tried, which is no fault of its own, as where the runtime lacks something; why, for
        /// people.
        case untried(String)

        /// The system could not give the bytes of a vector, for people.
        case unreadable(String)

        /// Of each vector the elements of each output, by the ``FeatureName/key`` of its name.
        case recorded([[String: [UInt8]]])
    }

    /// Bytes of a reason.
    package static let longestReason = 8_192

    package var outcome: Outcome

    package init(_ outcome: Outcome) { self.outcome = outcome }

    package init(json: JSONValue) throws(ManifestError) {
        var reader = try Self.reader(json)
        let failed = try reader.optionalReason("failed", upTo: Self.longestReason)
        let untried = try reader.optionalReason("untried", upTo: Self.longestReason)
        let unreadable = try reader.optionalReason("unreadable", upTo: Self.longestReason)
        let passed = reader.optional("passed")
        let hasRecord = json["recorded"] != nil
        var recorded: [[String: [UInt8]]] = []
        for (value, place) in try reader.optionalArray("recorded") {
            var outputs: [String: [UInt8]] = [:]
            guard let object = value.object else { throw place.invalid("an object", value) }
            for member in object.members {
                guard FeatureName.isKey(member.key.string) else {
                    throw place.invalid("outputs under the keys of their names", member.key.string)
                }
                guard let bytes = member.value.string.flatMap({ Base64.bytes($0) }) else {
                    throw place.member(member.key.string).invalid("bytes in base64", member.value)
                }
                outputs[member.key.string] = bytes
            }
            recorded.append(outputs)
        }
        try reader.finish()
        switch (passed, failed, untried, unreadable, hasRecord) {
        case (.bool(true)?, nil, nil, nil, false): outcome = .passed
        case (nil, let reason?, nil, nil, false): outcome = .failed(reason)
        case (nil, nil, let reason?, nil, false): outcome = .untried(reason)
        case (nil, nil, nil, let reason?, false): outcome = .unreadable(reason)
        case (nil, nil, nil, nil, true): outcome = .recorded(recorded)
        default:
            let found = ["passed", "failed", "untried", "unreadable", "recorded"].filter { json[$0] != nil }
            throw reader.place.invalid(
                "exactly one of `passed`, which is true, `failed`, `untried`, `unreadable` and `recorded`",
                found.isEmpty ? "none" : found.joined(separator: ", ")
            )
        }
    }

    package var json: JSONValue {
        var object = JSONObject()
        object["type"] = .text(Self.documentType.rawValue)
        switch outcome {
        case .passed: object["passed"] = .bool(true)
        case .failed(let reason): object["failed"] = .reason(reason, upTo: Self.longestReason)
        case .untried(let reason): object["untried"] = .reason(reason, upTo: Self.longestReason)
        case .unreadable(let reason): object["unreadable"] = .reason(reason, upTo: Self.longestReason)
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
}
