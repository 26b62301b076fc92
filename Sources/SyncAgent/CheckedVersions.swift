import CanonicalJSON
import Generations
import Names

/// `checked.json` (`sealift/checked@1`): of which versions the golden vectors were run here before activation.
///
/// Once is enough: neither the files nor the vectors of a version ever change.
/// What was begun and has no end is counted, so that vectors which take the
/// whole machine down are not begun for ever.
struct CheckedVersions: DeviceNote {
    static let type = "sealift/checked@1"
    static let fileName = "checked.json"

    /// How often the vectors of one version may be begun without coming to an end.
    static let mostBegun = 3

    /// Versions that are remembered, the last ones.
    private static let most = 512

    struct Entry: Sendable, Equatable {
        let manifest: Digest
        let variant: VariantName

        /// Beginnings without an end.
        var begun: Int

        /// What came of it; `nil` as long as it has no end.
        var outcome: String?
    }

    private(set) var entries: [Entry] = []

    init() {}

    subscript(identity: VersionIdentity) -> Entry? {
        entries.first { $0.manifest == identity.manifest && $0.variant == identity.variant }
    }

    /// Whether the version need not be tried again.
    func isDone(_ identity: VersionIdentity) -> Bool { self[identity]?.outcome != nil }

    /// Counts one more beginning.
    mutating func begin(_ identity: VersionIdentity) {
        change(identity) { $0.begun += 1 }
    }

    /// Takes a beginning back that was stopped from outside.
    mutating func interrupt(_ identity: VersionIdentity) {
        change(identity) { $0.begun = max(0, $0.begun - 1) }
    }

    mutating func finish(_ identity: VersionIdentity, _ outcome: String) {
        change(identity) { entry in
            entry.begun = 0
            entry.outcome = outcome
        }
    }

    /// Forgets the version, so that it is tried again when it is taken again.
    mutating func forget(_ identity: VersionIdentity) {
        entries.removeAll { $0.manifest == identity.manifest && $0.variant == identity.variant }
    }

    private mutating func change(_ identity: VersionIdentity, _ edit: (inout Entry) -> Void) {
        var entry =
            self[identity] ?? Entry(manifest: identity.manifest, variant: identity.variant, begun: 0)
        edit(&entry)
        forget(identity)
        entries = Array((entries + [entry]).suffix(Self.most))
    }
}

extension CheckedVersions {
    var members: JSONObject {
        .list(
            "versions",
            entries.map { entry in
                var object = JSONObject()
                object["manifest"] = .text(entry.manifest.hex)
                object["variant"] = .text(entry.variant.description)
                object["begun"] = .integer(Int64(entry.begun))
                object["outcome"] = entry.outcome.map { .text($0) }
                return .object(object)
            }
        )
    }

    init?(_ value: JSONValue) {
        guard let entries = value.list("versions", of: { Entry($0) }) else { return nil }
        self.entries = entries
    }
}

extension CheckedVersions.Entry {
    fileprivate init?(_ value: JSONValue) {
        guard let manifest = value["manifest"]?.string.flatMap({ Digest(hex: $0) }),
            let variant = value["variant"]?.string.flatMap({ VariantName($0) }),
            let begun = value["begun"]?.integer.flatMap({ Int(exactly: $0) }), (0...1_000_000).contains(begun)
        else { return nil }
        self.manifest = manifest
        self.variant = variant
        self.begun = begun
        outcome = value["outcome"]?.string
    }
}
