import CanonicalJSON
import Generations
import Names

/// `checked.json` (`sealift/checked@1`): of which versions the golden vectors were run here before activation.
///
/// Once is enough: neither the files nor the vectors of a version ever change.
/// What was begun and has no end is counted, so that vectors which take the
/// whole machine down are not begun again and again. Nobody can tell them from
/// power cuts and kills for other reasons, so that nothing is condemned for it:
/// after a few beginnings in a row they are begun once a day.
struct CheckedVersions: DeviceNote {
    static let type = "sealift/checked@1"
    static let fileName = "checked.json"

    /// How often the vectors of one version may be begun in a row without coming to an end.
    static let mostBegun = 3

    /// Seconds after which they may be begun once more.
    static let rest: Int64 = 86_400

    /// More beginnings than anybody counts.
    fileprivate static let mostCounted = 1_000_000

    /// Versions that are remembered, the last ones.
    private static let most = 512

    struct Entry: Sendable, Equatable {
        let manifest: Digest
        let variant: VariantName

        /// Beginnings without an end.
        var begun: Int

        /// When they were begun the last time.
        var last: UnixTime?

        /// What came of it; `nil` as long as it has no end.
        var outcome: String?
    }

    private(set) var entries: [Entry] = []

    init() {}

    subscript(identity: VersionIdentity) -> Entry? {
        entries.first { $0.manifest == identity.manifest && $0.variant == identity.variant }
    }

    /// Until when a version is not tried again; `nil` when it may be now.
    ///
    /// A clock that is no longer the one of the last beginning holds nothing up.
    func rest(of identity: VersionIdentity, at now: UnixTime) -> UnixTime? {
        guard let entry = self[identity], entry.begun >= Self.mostBegun, let last = entry.last,
            (0..<Self.rest).contains(now.seconds(since: last))
        else { return nil }
        return last.adding(seconds: Self.rest)
    }

    /// Counts one more beginning.
    mutating func begin(_ identity: VersionIdentity, at now: UnixTime) {
        change(identity) { entry in
            entry.begun = min(entry.begun + 1, Self.mostCounted)
            entry.last = now
        }
    }

    /// Lets everything that was begun and has no end be begun at once.
    mutating func forgetUnfinished() { entries.removeAll { $0.outcome == nil } }

    /// Takes a beginning back that was stopped from outside: what might be begun then may be so at once.
    mutating func interrupt(_ identity: VersionIdentity) {
        change(identity) { entry in
            entry.begun = max(0, entry.begun - 1)
            entry.last = nil
        }
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
                object["last"] = entry.last.map { .text($0.description) }
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
            let begun = value["begun"]?.integer.flatMap({ Int(exactly: $0) }),
            (0...CheckedVersions.mostCounted).contains(begun)
        else { return nil }
        self.manifest = manifest
        self.variant = variant
        self.begun = begun
        last = value["last"]?.string.flatMap { UnixTime($0) }
        outcome = value["outcome"]?.string
    }
}
