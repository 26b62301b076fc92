/// The alphabet that namespaces, models and variants share.
///
/// `[a-z0-9]([a-z0-9._-]*[a-z0-9])?` with no `..`, up to a length. `~`, `/`,
/// `@` and upper case stay outside, so that role names, target paths and
/// references can be told apart without escaping.
enum NameAlphabet {
    static func accepts(_ text: some StringProtocol, upTo limit: Int) -> Bool {
        let bytes = Array(text.utf8)
        guard (1...limit).contains(bytes.count), let first = bytes.first, let last = bytes.last,
            isAlphanumeric(first), isAlphanumeric(last)
        else { return false }
        var previous: UInt8 = 0
        for byte in bytes {
            let isDot = byte == 0x2E
            guard isAlphanumeric(byte) || isDot || byte == 0x5F || byte == 0x2D else { return false }
            if isDot && previous == 0x2E { return false }
            previous = byte
        }
        return true
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }
}

/// A team's part of the names, `vision` in `vision/detector`: 1 to 64 bytes, not reserved.
package struct Namespace: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let description: String

    /// Names that are something else already: Sealift's own part, the roles of TUF, and what a device keeps
    /// beside a namespace's file in `trust` or its folder in a generation.
    package static let reserved = [
        "sealift", "root", "targets", "snapshot", "timestamp", "mirrors", "generation.json", "state",
        "poll-state", "root_history",
    ]

    /// What a namespace looks like, for people.
    package static let expected =
        "1 to 64 of a-z 0-9 . _ -, and none of the reserved \(reserved.joined(separator: ", "))"

    /// - Returns: `nil` for a name outside the alphabet, or one of ``reserved``.
    package init?(_ text: some StringProtocol) {
        let name = String(text)
        guard NameAlphabet.accepts(name, upTo: 64), !Self.reserved.contains(name) else { return nil }
        description = name
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }
}

/// A named thing that evolves: `vision/detector`.
package struct ModelName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let namespace: Namespace

    /// The part after the slash: 1 to 64 bytes of the alphabet of names.
    package let model: String

    /// Parses `NAMESPACE/MODEL`.
    ///
    /// - Returns: `nil` unless both halves are names.
    package init?(_ text: some StringProtocol) {
        let halves = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count == 2, let namespace = Namespace(halves[0]) else { return nil }
        self.init(namespace: namespace, model: halves[1])
    }

    package init?(namespace: Namespace, model: some StringProtocol) {
        guard NameAlphabet.accepts(model, upTo: 64) else { return nil }
        self.namespace = namespace
        self.model = String(model)
    }

    package var description: String { "\(namespace)/\(model)" }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }
}

/// One concrete set of files inside a version: 1 to 32 bytes of the alphabet of names.
package struct VariantName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let description: String

    package init?(_ text: some StringProtocol) {
        guard NameAlphabet.accepts(text, upTo: 32) else { return nil }
        description = String(text)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }
}

/// A signed, movable label: `[a-z][a-z0-9-]{0,31}`.
package struct ChannelName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let description: String

    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard (1...32).contains(bytes.count), let first = bytes.first, (0x61...0x7A).contains(first),
            bytes.allSatisfy({ NameAlphabet.isAlphanumeric($0) || $0 == 0x2D })
        else { return nil }
        description = String(text)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }
}
