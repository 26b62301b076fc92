package import CanonicalJSON
package import Names

/// `quarantine.json` (`sealift/quarantine@1`): versions that this device does not take again.
///
/// They failed a trial here, an app could not load them, or the operator went
/// back from them. Each is named by its manifest, so that the next version of
/// the model is not concerned.
package struct Quarantine: DeviceNote {
    package static let type = "sealift/quarantine@1"
    package static let fileName = "quarantine.json"

    package struct Entry: Sendable, Equatable {
        package let model: ModelName
        package let version: ModelVersion
        package let manifest: Digest
        package let reason: String
        package let time: UnixTime

        package init(_ identity: VersionIdentity, reason: String, time: UnixTime) {
            model = identity.model
            version = identity.version
            manifest = identity.manifest
            self.reason = reason
            self.time = time
        }
    }

    package var entries: [Entry] = []

    /// The generation that this device went back from, once ``entries`` say of which of its versions that is so.
    ///
    /// What is cleared after that is not blamed again while its fallback is active.
    package var settled: UInt64?

    package init() {}

    package subscript(manifest: Digest) -> Entry? { entries.first { $0.manifest == manifest } }

    package mutating func add(_ entry: Entry) {
        if self[entry.manifest] == nil { entries.append(entry) }
    }
}

extension Quarantine {
    package var members: JSONObject {
        let models = entries.map { entry in
            JSONValue.members([
                "manifest": .text(entry.manifest.hex), "model": .text(entry.model.description),
                "reason": .text(entry.reason), "time": .text(entry.time.description),
                "version": .text(entry.version.description),
            ])
        }
        var object = JSONObject.list("models", models)
        object["settled"] = settled.map { .integer(Int64($0)) }
        return object
    }

    package init?(_ value: JSONValue) {
        guard let entries = value.list("models", of: { Entry($0) }) else { return nil }
        self.entries = entries
        settled = value["settled"]?.integer.flatMap { UInt64(exactly: $0) }
    }
}

extension Quarantine.Entry {
    fileprivate init?(_ value: JSONValue) {
        guard let model = value["model"]?.string.flatMap({ ModelName($0) }),
            let version = value["version"]?.string.flatMap({ ModelVersion($0) }),
            let manifest = value["manifest"]?.string.flatMap({ Digest(hex: $0) }),
            let reason = value["reason"]?.string, let time = value["time"]?.string.flatMap({ UnixTime($0) })
        else { return nil }
        self.model = model
        self.version = version
        self.manifest = manifest
        self.reason = reason
        self.time = time
    }
}
