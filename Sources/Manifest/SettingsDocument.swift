package import CanonicalJSON
import Names

/// What the administrators ask of every device; signed by `targets`.
package struct SettingsDocument: CanonicalDocument {
    package static let documentType = DocumentType.settings

    package static let targetPath = "sealift/settings.json"

    /// What a device does with the active versions once the grace period is over.
    package enum AfterGrace: String, Sendable, CaseIterable {
        case keep, refuse
    }

    /// When the registry stops a rollout by itself.
    package struct Halt: Equatable, Sendable {
        /// Failed of all that reported, in percent.
        package var failedPercent: Int

        /// Reports below which nothing is decided.
        package var minimum: Int

        package init(failedPercent: Int, minimum: Int) {
            self.failedPercent = failedPercent
            self.minimum = minimum
        }
    }

    /// Seconds between polls.
    package var pollSeconds: Int64 = 3_600

    /// Seconds that the active versions may be used after the chain has expired.
    package var grace: Int64 = 30 * 86_400
    package var afterGrace = AfterGrace.keep

    /// Seconds that a bundle may be older than its timestamp and snapshot allow.
    package var bundleMaximumAge: Int64 = 30 * 86_400
    package var halt = Halt(failedPercent: 5, minimum: 20)

    /// The lowest root version that a client may be pinned to.
    package var oldestRoot: Int64 = 1

    /// The defaults.
    package init() {}
}

extension SettingsDocument {
    private static let greatest: Int64 = 10 * 366 * 86_400

    package init(json: JSONValue) throws(ManifestError) {
        var reader = try Self.reader(json)
        self.init()
        pollSeconds = try reader.integer("poll_seconds", in: 1...30 * 86_400)
        grace = try reader.integer("grace", in: 0...Self.greatest)
        afterGrace = try reader.parsed("after_grace", "keep or refuse") { AfterGrace(rawValue: $0) }
        bundleMaximumAge = try reader.integer("bundle_max_age", in: 0...Self.greatest)
        var inner = try reader.reader("halt")
        halt = Halt(
            failedPercent: Int(try inner.integer("failed_percent", in: 1...100)),
            minimum: Int(try inner.integer("minimum", in: 1...1_000_000_000))
        )
        try inner.finish()
        oldestRoot = try reader.integer("oldest_root", in: 1...Int64(Int32.max))
        try reader.finish()
    }

    package var json: JSONValue {
        .members([
            "type": .text(Self.documentType.rawValue),
            "poll_seconds": .integer(pollSeconds),
            "grace": .integer(grace),
            "after_grace": .text(afterGrace.rawValue),
            "bundle_max_age": .integer(bundleMaximumAge),
            "halt": .members([
                "failed_percent": .integer(Int64(halt.failedPercent)),
                "minimum": .integer(Int64(halt.minimum)),
            ]),
            "oldest_root": .integer(oldestRoot),
        ])
    }
}
