package import CanonicalJSON
import Names

extension LiveDocument {
    package init(json: JSONValue) throws(ManifestError) {
        var reader = try Self.reader(json)
        self.init(model: try reader.model("model"))
        for (key, value, place) in try reader.map("channels") {
            guard let name = ChannelName(key) else { throw place.invalid("under a channel name", key) }
            channels[name] = try Channel(value, at: place)
        }
        for (key, value, place) in try reader.map("states") {
            guard let version = ModelVersion(key) else { throw place.invalid("under a version", key) }
            states[version] = try VersionState(value, at: place)
        }
        try reader.finish()
    }

    package var json: JSONValue {
        var channelMembers = JSONObject()
        for (name, channel) in channels { channelMembers[name.description] = channel.json }
        var stateMembers = JSONObject()
        for (version, state) in states { stateMembers[version.description] = state.json }
        return .members([
            "type": .text(Self.documentType.rawValue),
            "model": .text(model.description),
            "channels": .object(channelMembers),
            "states": .object(stateMembers),
        ])
    }
}

extension Channel {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        floor = try reader.optionalParsed("floor", "a version") { ModelVersion($0) }
        versions = []
        for (value, place) in try reader.array("versions") { versions.append(try Listing(value, at: place)) }
        try reader.finish()
        guard let broken = brokenRule else { return }
        throw place.member("versions").invalid(broken.expected, broken.found)
    }

    /// The first rule between listings that does not hold.
    var brokenRule: (expected: String, found: String)? {
        var names: Set<ModelVersion> = []
        var digests: Set<Digest> = []
        for listing in versions {
            guard names.insert(listing.version).inserted, digests.insert(listing.manifest).inserted else {
                return ("each version and manifest once", "\(listing.version) twice")
            }
        }
        for listing in versions {
            if let replaced = listing.replaces.first(where: digests.contains) {
                return ("`replaces` without a listed manifest", "\(replaced) in \(listing.version)")
            }
        }
        return nil
    }

    var json: JSONValue {
        var object = JSONObject()
        object.set("floor", text: floor?.description)
        object["versions"] = .array(versions.map(\.json))
        return .object(object)
    }
}

extension Listing {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        version = try reader.version("version")
        manifest = try reader.digest("manifest")
        rollout = Int(try reader.integer("rollout", in: 0...Int64(Self.fullRollout)))
        replaces = []
        var seen: Set<Digest> = []
        for (value, place) in try reader.array("replaces") {
            guard let digest = value.string.flatMap({ Digest(hex: $0) }), seen.insert(digest).inserted else {
                throw place.invalid("a digest that does not stand there twice", value)
            }
            replaces.append(digest)
        }
        try reader.finish()
    }

    var json: JSONValue {
        .members([
            "version": .text(version.description),
            "manifest": .text(manifest.hex),
            "rollout": .integer(Int64(rollout)),
            "replaces": .array(replaces.map { .text($0.hex) }),
        ])
    }
}

extension VersionState {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        kind = try reader.parsed("state", "yanked or recalled") { Kind(rawValue: $0) }
        reason = try reader.text("reason")
        time = try reader.time("time")
        try reader.finish()
    }

    var json: JSONValue {
        .members(["state": .text(kind.rawValue), "reason": .text(reason), "time": .text(time.description)])
    }
}
