import CanonicalJSON
import Names

/// What a publisher's or operator's commands need to know, so that they need no options (`client.json`).
///
/// `{type: sealift/client@1, registries, root, ca?, keys?, token_file?, administrator_token_file?}`. Paths
/// are absolute or relative to the file's own folder. It holds no secret: keys
/// and tokens are named by path. Unknown members are refused, because a
/// misspelt one would silently not work.
package struct ClientConfiguration: Equatable, Sendable {
    /// Base addresses, the first is preferred, the others are mirrors.
    package var registries: [String]

    /// The pinned trust root.
    package var root: String?

    /// Certificates that may vouch for the registries, PEM; the system's when absent.
    package var ca: String?

    /// The folder of `NAMESPACE.pem` and the administrators' keys.
    package var keys: String?
    package var tokenFile: String?

    /// Allows every role that people sign; with the signatures of those people.
    package var administratorTokenFile: String?

    package init(
        registries: [String],
        root: String? = nil,
        ca: String? = nil,
        keys: String? = nil,
        tokenFile: String? = nil,
        administratorTokenFile: String? = nil
    ) {
        self.registries = registries
        self.root = root
        self.ca = ca
        self.keys = keys
        self.tokenFile = tokenFile
        self.administratorTokenFile = administratorTokenFile
    }

    /// Reads the file's bytes.
    ///
    /// - Parameters:
    ///   - bytes: JSON of any layout; it is not signed.
    ///   - folder: The folder of the file, for relative paths.
    /// - Throws: `PublishingError.configuration`, naming the member that is wrong.
    package init(_ bytes: [UInt8], folder: String) throws(PublishingError) {
        let value: JSONValue
        do { value = try JSONParser.parse(bytes, maximumLength: 65_536) } catch {
            throw .configuration("\(error)")
        }
        guard let object = value.object else { throw .configuration("it is no JSON object") }
        let known = ["type", "registries", "root", "ca", "keys", "token_file", "administrator_token_file"]
        if let unknown = object.keys.first(where: { !known.contains($0) }) {
            throw .configuration(
                "it has an unknown member ‘\(unknown)’; known are \(known.joined(separator: ", "))"
            )
        }
        guard object["type"]?.string == Self.type else {
            throw .configuration("its type is not ‘\(Self.type)’")
        }
        func path(_ member: String) throws(PublishingError) -> String? {
            guard let value = object[member] else { return nil }
            guard let text = value.string, !text.isEmpty else {
                throw .configuration("‘\(member)’ is not a path")
            }
            return text.hasPrefix("/") ? text : folder + "/" + text
        }
        let registries = object["registries"]?.array?.map(\.string) ?? []
        guard !registries.isEmpty, registries.allSatisfy({ $0 != nil }) else {
            throw .configuration("‘registries’ is not a list of addresses")
        }
        self.registries = registries.compactMap { $0 }
        root = try path("root")
        ca = try path("ca")
        keys = try path("keys")
        tokenFile = try path("token_file")
        administratorTokenFile = try path("administrator_token_file")
    }

    /// This configuration with what lies in the file's folder named relative to it, so that the folder can be carried.
    package func relative(to folder: String) -> ClientConfiguration {
        func short(_ path: String?) -> String? {
            path.map { $0.hasPrefix(folder + "/") ? String($0.dropFirst(folder.count + 1)) : $0 }
        }
        return ClientConfiguration(
            registries: registries,
            root: short(root),
            ca: short(ca),
            keys: short(keys),
            tokenFile: short(tokenFile),
            administratorTokenFile: short(administratorTokenFile)
        )
    }

    /// The file's bytes, RFC 8785.
    package var bytes: [UInt8] {
        var object = JSONObject()
        object["type"] = .text(Self.type)
        object["registries"] = .array(registries.map { .text($0) })
        object["root"] = root.map { .text($0) }
        object["ca"] = ca.map { .text($0) }
        object["keys"] = keys.map { .text($0) }
        object["token_file"] = tokenFile.map { .text($0) }
        object["administrator_token_file"] = administratorTokenFile.map { .text($0) }
        return JSONValue.object(object).compactJSON
    }

    package static let type = "sealift/client@1"

    /// Whether bytes say that they are such a document, in order or not.
    package static func claims(_ bytes: [UInt8]) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains("\"sealift/client@")
    }
}
