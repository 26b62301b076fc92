package import Names

/// Which versions of a model an app accepts: comparators that must all hold, `>=2.1 <3`.
///
/// Grammar: one or more of `>=`, `>`, `<=`, `<`, `=` each followed by a
/// version, or by its first one or two numbers, which stand for `.0`;
/// separated by single spaces. Order is precedence (SemVer 2.0.0, 11), with
/// one exception for people: `<3` and `<3.0.0` leave out `3.0.0-beta` too.
package struct VersionRange: Equatable, Sendable, CustomStringConvertible {
    private enum Relation: String, CaseIterable {
        // Two-letter ones first, so that `>=` is not read as `>`.
        case atLeast = ">="
        case atMost = "<="
        case above = ">"
        case below = "<"
        case exactly = "="
    }

    private struct Comparator: Equatable, Sendable {
        let relation: Relation
        let version: ModelVersion
    }

    private let comparators: [Comparator]

    /// As it was written.
    package let description: String

    /// - Returns: `nil` for anything outside the grammar.
    package init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard text.utf8.count <= 256, !words.isEmpty else { return nil }
        var comparators: [Comparator] = []
        for word in words {
            guard let relation = Relation.allCases.first(where: { word.hasPrefix($0.rawValue) }),
                let version = Self.version(word.dropFirst(relation.rawValue.count))
            else { return nil }
            comparators.append(Comparator(relation: relation, version: version))
        }
        self.comparators = comparators
        description = String(text)
    }

    private static func version(_ text: some StringProtocol) -> ModelVersion? {
        switch text.split(separator: ".", omittingEmptySubsequences: false).count {
        case 1: ModelVersion("\(text).0.0")
        case 2: ModelVersion("\(text).0")
        default: ModelVersion(text)
        }
    }

    package func contains(_ version: ModelVersion) -> Bool {
        comparators.allSatisfy { comparator in
            let bound = comparator.version
            return switch comparator.relation {
            case .atLeast: version >= bound
            case .atMost: version <= bound
            case .above: version > bound
            case .exactly: version == bound
            case .below: version < bound && !Self.isPrerelease(version, of: bound)
            }
        }
    }

    private static func isPrerelease(_ version: ModelVersion, of bound: ModelVersion) -> Bool {
        !bound.isPrerelease && version.isPrerelease
            && (version.major, version.minor, version.patch) == (bound.major, bound.minor, bound.patch)
    }
}
