import HTTPServer
import Names
import Registry
import RegistryAPI
import Signing

/// What devices read: files that never change, and the one that does.
extension RegistryService {
    private static let immutable = "public, max-age=31536000, immutable"

    /// `timestamp.json`, or one version of a role: `VERSION.ROLE.json` (TUF 1.0.34, 6.2).
    func metadata(_ call: Call) throws -> HTTPResponse {
        let name = call.parameter("file")
        if name == "timestamp.json" {
            guard let timestamp = try registry.store.timestamp() else { throw absent(call) }
            return Representation(
                body: .bytes(timestamp.bytes),
                entityTag: tag(timestamp.sha256),
                contentType: "application/json",
                cacheControl: "no-cache"
            ).response(to: call.request)
        }
        guard let (version, role) = Self.versioned(name),
            let file = try registry.store.file(role, version: version)
        else { throw absent(call) }
        return json(file.bytes, file.sha256).response(to: call.request)
    }

    /// A document by its own digest: `SHA256.NAME` in the folder of its path (TUF 1.0.34, 6.2).
    func target(_ call: Call, folder: [String]) throws -> HTTPResponse {
        let name = call.parameter("document")
        guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")), let digest = Digest(hex: name[..<dot])
        else { throw absent(call) }
        let path = (folder + [String(name[name.utf8.index(after: dot)...])]).joined(separator: "/")
        guard let document = try registry.store.document(path, digest) else { throw absent(call) }
        return json(document.bytes, digest).response(to: call.request)
    }

    /// Model bytes, block lists and attestations.
    func blob(_ call: Call) throws -> HTTPResponse {
        let text = call.parameter("digest")
        guard let digest = Digest(hex: text), text.utf8.starts(with: call.parameter("prefix").utf8),
            call.parameter("prefix").utf8.count == 2,
            let blob = try registry.openBlob(digest)
        else { throw absent(call) }
        return Representation(
            body: .file(HTTPFile(owning: blob.descriptor), offset: 0, length: blob.length),
            entityTag: tag(digest),
            contentType: "application/octet-stream",
            cacheControl: Self.immutable
        ).response(to: call.request)
    }

    private func json(_ bytes: [UInt8], _ digest: Digest) -> Representation {
        Representation(
            body: .bytes(bytes),
            entityTag: tag(digest),
            contentType: "application/json",
            cacheControl: Self.immutable
        )
    }

    private func tag(_ digest: Digest) -> EntityTag { EntityTag("sha256-\(digest.hex)") }

    /// Never cached: what is absent now may be published in a moment.
    private func absent(_ call: Call) -> Refusal {
        Refusal(.notFound, "Nothing is published at \(call.request.target.path).")
    }

    /// Splits `VERSION.ROLE.json`; a leading zero or a sign would be a second name of one file.
    private static func versioned(_ name: String) -> (version: Int64, role: String)? {
        let suffix = ".json"
        guard let dot = name.utf8.firstIndex(of: UInt8(ascii: ".")), name.utf8.count > suffix.utf8.count,
            name.utf8.reversed().starts(with: suffix.utf8.reversed())
        else { return nil }
        let digits = name[..<dot]
        let rest = name[name.utf8.index(after: dot)...]
        guard let version = Int64(digits), version > 0, "\(version)".utf8.elementsEqual(digits.utf8),
            rest.utf8.count > suffix.utf8.count
        else { return nil }
        return (version, String(rest.dropLast(suffix.utf8.count)))
    }
}
