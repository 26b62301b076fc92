/// One immutable release of a model, by Semantic Versioning 2.0.0 without build metadata, at most 64 bytes.
///
/// Order is precedence (SemVer 2.0.0, 11): numbers as numbers, a pre-release
/// before its release.
package struct ModelVersion: Hashable, Sendable, CustomStringConvertible {
    package let major: UInt64
    package let minor: UInt64
    package let patch: UInt64

    /// The dot-separated identifiers after `-`; empty for a release.
    package let prerelease: [String]

    package var isPrerelease: Bool { !prerelease.isEmpty }

    package init(major: UInt64, minor: UInt64, patch: UInt64) {
        self.major = major
        self.minor = minor
        self.patch = patch
        prerelease = []
    }

    /// Parses `MAJOR.MINOR.PATCH[-PRERELEASE]`.
    ///
    /// - Returns: `nil` for any other shape, leading zeros, build metadata or a number over 2^63 - 1.
    package init?(_ text: some StringProtocol) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == 3, let major = Self.number(numbers[0]), let minor = Self.number(numbers[1]),
            let patch = Self.number(numbers[2])
        else { return nil }
        var identifiers: [String] = []
        if parts.count == 2 {
            for identifier in parts[1].split(separator: ".", omittingEmptySubsequences: false) {
                guard Self.isIdentifier(identifier) else { return nil }
                identifiers.append(String(identifier))
            }
        }
        self.major = major
        self.minor = minor
        self.patch = patch
        prerelease = identifiers
    }

    package var description: String {
        "\(major).\(minor).\(patch)" + (prerelease.isEmpty ? "" : "-" + prerelease.joined(separator: "."))
    }

    private static func number(_ text: some StringProtocol) -> UInt64? {
        let bytes = Array(text.utf8)
        guard (1...19).contains(bytes.count), bytes.allSatisfy({ (0x30...0x39).contains($0) }),
            bytes.count == 1 || bytes[0] != 0x30, let value = UInt64(String(text)), value <= UInt64(Int64.max)
        else { return nil }
        return value
    }

    private static func isIdentifier(_ text: some StringProtocol) -> Bool {
        let bytes = Array(text.utf8)
        let isNumeric = bytes.allSatisfy { (0x30...0x39).contains($0) }
        guard !bytes.isEmpty else { return false }
        if isNumeric { return number(text) != nil }
        return bytes.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || $0 == 0x2D
        }
    }
}

extension ModelVersion: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        if left.major != right.major { return left.major < right.major }
        if left.minor != right.minor { return left.minor < right.minor }
        if left.patch != right.patch { return left.patch < right.patch }
        if left.isPrerelease != right.isPrerelease { return left.isPrerelease }
        for (one, other) in zip(left.prerelease, right.prerelease) where !one.utf8.elementsEqual(other.utf8) {
            switch (number(one), number(other)) {
            case (let one?, let other?): return one < other
            case (.some, nil): return true
            case (nil, .some): return false
            case (nil, nil): return one.utf8.lexicographicallyPrecedes(other.utf8)
            }
        }
        return left.prerelease.count < right.prerelease.count
    }
}
