package import Names

/// Where a repository's static files are.
///
/// Every file is a plain GET below one base URL, so that a registry, a mirror,
/// a CDN and any web server look alike.
package struct RepositoryLocation: Sendable, Hashable {
    private let base: String
    private let metadataBase: String
    private let targetBase: String

    /// - Parameter base: For example `https://models.example:8443`, with or without a slash at the end.
    package init(base: String) {
        self.base = Self.closed(base)
        metadataBase = self.base + "metadata/"
        targetBase = self.base + "targets/"
    }

    /// A TUF repository whose metadata and targets have bases of their own.
    package init(metadataBase: String, targetBase: String) {
        base = Self.closed(targetBase)
        self.metadataBase = Self.closed(metadataBase)
        self.targetBase = Self.closed(targetBase)
    }

    /// A file of metadata, for example `3.root.json`.
    package func metadata(_ name: String) -> String { metadataBase + Self.escaped(name, keepingSlash: false) }

    /// A target, with its hash before the last part of its path (TUF 1.0.34, 6.2).
    ///
    /// - Parameters:
    ///   - path: As signed, for example `vision/detector/1.4.0.json`.
    ///   - hash: Lower-case hexadecimal, or `nil` for a repository without consistent snapshots.
    /// - Returns: The URL.
    package func target(_ path: String, hash: String?) -> String {
        guard let hash else { return targetBase + Self.escaped(path, keepingSlash: true) }
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let name = parts.removeLast()
        parts.append("\(hash).\(name)")
        return targetBase + Self.escaped(parts.joined(separator: "/"), keepingSlash: true)
    }

    package func target(_ path: String, digest: Digest) -> String { target(path, hash: digest.hex) }

    /// A blob: model bytes, a block list or an attestation.
    package func blob(_ digest: Digest) -> String {
        "\(base)blobs/sha256/\(digest.hex.prefix(2))/\(digest.hex)"
    }

    /// A route of the registry's API, for example `blobs/have`.
    package func api(_ route: String) -> String { "\(base)api/v1/\(route)" }

    /// Any other file below the base, for example `log/checkpoint`.
    package func file(_ path: String) -> String { base + Self.escaped(path, keepingSlash: true) }

    private static func closed(_ base: String) -> String { base.hasSuffix("/") ? base : base + "/" }

    /// Percent-encodes all but the unreserved characters of RFC 3986, 2.3.
    private static func escaped(_ text: String, keepingSlash: Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: bytes.append(byte)
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: "/") where keepingSlash: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension RepositoryLocation: CustomStringConvertible {
    package var description: String { base }
}
