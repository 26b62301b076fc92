package import CanonicalJSON
import Names

/// A value that travels as a JSON object, the same text on both ends.
package protocol APIDocument: Sendable, Equatable {
    init(_ json: JSONValue) throws(APIError)
    var json: JSONValue { get }
}

extension APIDocument {
    /// Reads a received body.
    ///
    /// - Throws: `APIError` when the bytes are not this document.
    package init(bytes: [UInt8]) throws(APIError) {
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes, maximumLength: Int(Limits.apiBody.rawValue))
        } catch {
            throw .notJSON(reason: "\(error)")
        }
        try self.init(value)
    }

    package var bytes: [UInt8] { json.compactJSON }
}

extension JSONValue {
    func text(_ name: String) throws(APIError) -> String {
        guard let text = self[name]?.string else { throw .badMember(name: name, expected: "text") }
        return text
    }

    func number(_ name: String) throws(APIError) -> Int64 {
        guard let number = self[name]?.integer else { throw .badMember(name: name, expected: "an integer") }
        return number
    }

    func elements(_ name: String) throws(APIError) -> [JSONValue] {
        guard let elements = self[name]?.array else { throw .badMember(name: name, expected: "an array") }
        return elements
    }

    func base64(_ name: String) throws(APIError) -> [UInt8] {
        guard let text = self[name]?.string, let bytes = Base64.bytes(text) else {
            throw .badMember(name: name, expected: "standard base64 with padding")
        }
        return bytes
    }

    func digests(_ name: String) throws(APIError) -> [Digest] {
        var digests: [Digest] = []
        for element in try elements(name) {
            guard let text = element.string, let digest = Digest(hex: text) else {
                throw .badMember(name: name, expected: "SHA-256 digests of 64 lower-case hexadecimal digits")
            }
            digests.append(digest)
        }
        return digests
    }
}
