/// A role of TUF 1.0.34, section 2.1: one of the four at the top, or one that a targets role delegates to.
///
/// Compared byte for byte: two delegated names that differ only in Unicode
/// normalisation are two roles.
package enum RoleName: Sendable {
    case root, timestamp, snapshot, targets
    case delegated(String)

    /// The role that a metadata document calls `name`.
    package init(_ name: String) {
        self =
            switch name {
            case "root": .root
            case "timestamp": .timestamp
            case "snapshot": .snapshot
            case "targets": .targets
            default: .delegated(name)
            }
    }

    /// The value of `_type` in this role's documents (TUF 1.0.34, 4.3 to 4.6).
    package var documentType: String {
        switch self {
        case .root: "root"
        case .timestamp: "timestamp"
        case .snapshot: "snapshot"
        case .targets, .delegated: "targets"
        }
    }

    /// The name of this role's file, `ROLE.json`, safe in a URL and on a disk.
    ///
    /// Everything but `A-Z a-z 0-9 _ . - ~` is percent-encoded, as Python's
    /// `quote(role, safe="")` does, so that a role called `../x` cannot leave
    /// its folder.
    ///
    /// For a delegated role it may be longer than ``longestFileName``; such a role is refused when it is wanted.
    package var fileName: String { Self.encoded(description) + ".json" }

    /// In bytes, what Linux file systems take.
    package static let longestFileName = 255

    /// The file name of one version, `VERSION.ROLE.json` (TUF 1.0.34, 6.2).
    package func fileName(version: Int64) -> String { "\(version).\(fileName)" }

    static func encoded(_ name: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: encoded.append(byte)
            default: encoded += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension RoleName: CustomStringConvertible {
    package var description: String {
        switch self {
        case .root, .timestamp, .snapshot, .targets: documentType
        case .delegated(let name): name
        }
    }
}

extension RoleName: Hashable, Comparable {
    package static func == (left: Self, right: Self) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}
