package import CanonicalJSON

/// What an answer that is not a success says (RFC 9457, `application/problem+json`).
package struct Problem: APIDocument {
    /// Stable names of what can go wrong; the `type` is `urn:sealift:problem:` and one of these.
    ///
    /// Programs branch on these, people read title and detail.
    package enum Code: String, Sendable, CaseIterable {
        case malformed
        case notFound = "not-found"
        case methodNotAllowed = "method-not-allowed"
        case unauthorized, forbidden
        case tooLarge = "too-large"

        /// A role moved on since the publisher read it; `current` names the versions.
        case conflict

        /// A signature, threshold, delegation or shape is not as the chain asks.
        case untrusted

        /// A document, version, expiry or blob breaks a rule of the registry.
        case refused

        /// The bytes received are not those of the digest.
        case digestMismatch = "digest-mismatch"

        /// Clocks disagree, or the database is busy, full or not readable: try again.
        case unavailable
        case `internal`

        package var status: Int {
            switch self {
            case .malformed: 400
            case .unauthorized: 401
            case .forbidden: 403
            case .notFound: 404
            case .methodNotAllowed: 405
            case .conflict: 409
            case .tooLarge: 413
            case .untrusted, .refused, .digestMismatch: 422
            case .internal: 500
            case .unavailable: 503
            }
        }

        package var title: String {
            switch self {
            case .malformed: "The request cannot be read"
            case .unauthorized: "A valid token is needed"
            case .forbidden: "The token does not allow this"
            case .notFound: "There is nothing here"
            case .methodNotAllowed: "The method does not apply here"
            case .conflict: "A role has moved on"
            case .tooLarge: "The body is too large"
            case .untrusted: "The chain of signatures does not hold"
            case .refused: "The registry refuses this"
            case .digestMismatch: "The bytes are not those of the digest"
            case .internal: "The registry failed"
            case .unavailable: "The registry cannot do this now"
            }
        }
    }

    package static let typePrefix = "urn:sealift:problem:"

    package let code: Code

    /// What happened here, to what, and what to do.
    package let detail: String

    /// What the registry expected, where that is one thing.
    package let expected: String?

    /// The versions that count now, by role name, where the request was built on others.
    package let current: [String: Int64]

    package init(_ code: Code, detail: String, expected: String? = nil, current: [String: Int64] = [:]) {
        self.code = code
        self.detail = detail
        self.expected = expected
        self.current = current
    }

    package init(_ json: JSONValue) throws(APIError) {
        let type = try json.text("type")
        guard type.utf8.starts(with: Self.typePrefix.utf8),
            let code = Code(rawValue: String(type.dropFirst(Self.typePrefix.count)))
        else { throw .badMember(name: "type", expected: "a type that this program knows") }
        var current: [String: Int64] = [:]
        for member in json["current"]?.object?.members ?? [] {
            guard let version = member.value.integer else {
                throw .badMember(name: "current", expected: "versions by role name")
            }
            current[member.key.string] = version
        }
        self.init(
            code,
            detail: try json.text("detail"),
            expected: json["expected"]?.string,
            current: current
        )
    }

    package var json: JSONValue {
        var object = JSONObject()
        object["type"] = .text(Self.typePrefix + code.rawValue)
        object["title"] = .text(code.title)
        object["status"] = .integer(Int64(code.status))
        object["detail"] = .text(detail)
        if let expected { object["expected"] = .text(expected) }
        if !current.isEmpty {
            var versions = JSONObject()
            for (role, version) in current { versions[role] = .integer(version) }
            object["current"] = .object(versions)
        }
        return .object(object)
    }
}
