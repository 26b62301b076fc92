package import CanonicalJSON
package import Names

/// The registry's brake: manifests that nobody newly activates for a while.
///
/// Signed by an online key, so it can only subtract, only from new
/// activations, and at most for seven days; more is ignored and reported.
package struct HoldDocument: CanonicalDocument {
    package static let documentType = DocumentType.hold

    package var model: ModelName
    package var holds: [Hold]

    package init(model: ModelName, holds: [Hold] = []) {
        self.model = model
        self.holds = holds
    }

    package static func targetPath(model: ModelName) -> String { "sealift/holds/\(model).json" }

    package var targetPath: String { Self.targetPath(model: model) }

    /// Takes the document that was found at `path`.
    ///
    /// - Parameters:
    ///   - bytes: As received.
    ///   - path: The target path under which they were signed.
    /// - Throws: `ManifestError.misplaced` when it names another model, else as `init(canonical:)`.
    package init(canonical bytes: [UInt8], at path: String) throws(ManifestError) {
        try self.init(canonical: bytes)
        guard targetPath.utf8.elementsEqual(path.utf8) else {
            throw .misplaced(.hold, expected: targetPath, found: path)
        }
    }

    /// Which holds apply at `now`, and which are to be reported as beyond what a hold may be.
    package func effect(at now: UnixTime) -> HoldEffect {
        var effect = HoldEffect()
        for hold in holds {
            if let excess = hold.excess(at: now) {
                effect.ignored.append(HoldEffect.Ignored(hold: hold, reason: excess))
            } else if now < hold.until {
                effect.holds[hold.manifest] = hold
            }
        }
        return effect
    }
}

/// One held manifest.
package struct Hold: Equatable, Sendable {
    /// Seconds from `since` to `until`.
    package static let longest: Int64 = 7 * 86_400

    /// Seconds that `since` may lie ahead, for clocks that differ.
    package static let furthestAhead: Int64 = 600

    package var manifest: Digest
    package var reason: String
    package var since: UnixTime
    package var until: UnixTime

    package init(manifest: Digest, reason: String, since: UnixTime, until: UnixTime) {
        self.manifest = manifest
        self.reason = reason
        self.since = since
        self.until = until
    }

    /// Why this hold is ignored; `nil` when it is within what a hold may be.
    package func excess(at now: UnixTime) -> String? {
        if until < since { return "it ends (\(until)) before it begins (\(since))" }
        if until.seconds(since: since) > Self.longest {
            return "it lasts from \(since) to \(until), longer than 7 days"
        }
        if since.seconds(since: now) > Self.furthestAhead {
            return "it begins at \(since), more than 10 minutes after now (\(now))"
        }
        return nil
    }
}

/// What a hold document does at one moment.
package struct HoldEffect: Equatable, Sendable {
    package struct Ignored: Equatable, Sendable {
        package let hold: Hold
        package let reason: String
    }

    /// By manifest.
    package internal(set) var holds: [Digest: Hold] = [:]
    package internal(set) var ignored: [Ignored] = []
}

extension HoldDocument {
    package init(json: JSONValue) throws(ManifestError) {
        var reader = try Self.reader(json)
        model = try reader.model("model")
        holds = []
        for (value, place) in try reader.array("holds") { holds.append(try Hold(value, at: place)) }
        try reader.finish()
    }

    package var json: JSONValue {
        .members([
            "type": .text(Self.documentType.rawValue),
            "model": .text(model.description),
            "holds": .array(holds.map(\.json)),
        ])
    }
}

extension Hold {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        manifest = try reader.digest("manifest")
        reason = try reader.text("reason")
        since = try reader.time("since")
        until = try reader.time("until")
        try reader.finish()
    }

    var json: JSONValue {
        .members([
            "manifest": .text(manifest.hex), "reason": .text(reason), "since": .text(since.description),
            "until": .text(until.description),
        ])
    }
}
