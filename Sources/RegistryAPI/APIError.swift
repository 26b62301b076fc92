/// Why the bytes of a request or an answer are not what the API says.
package enum APIError: Error, Equatable, Sendable {
    /// Not JSON, or not within the size that the API takes.
    case notJSON(reason: String)

    /// A member is absent or of the wrong kind.
    case badMember(name: String, expected: String)
}

extension APIError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notJSON(let reason): "the body cannot be read: \(reason)"
        case .badMember(let name, let expected): "member `\(name)`: expected \(expected)"
        }
    }
}
