import CanonicalJSON
package import Names

/// Where the versions of a model go: channels, and what has been withdrawn.
///
/// `sealift/live@1`. Releasing and putting into use are two signatures,
/// possibly by two people; this is the second.
package struct LiveDocument: CanonicalDocument {
    package static let documentType = DocumentType.live

    package var model: ModelName
    package internal(set) var channels: [ChannelName: Channel]
    package var states: [ModelVersion: VersionState]

    /// A document in which no version is in use.
    package init(model: ModelName) {
        self.model = model
        channels = [:]
        states = [:]
    }

    package static func targetPath(model: ModelName) -> String { "\(model)/live.json" }

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
            throw .misplaced(.live, expected: targetPath, found: path)
        }
    }

    /// All that `channel` lists, highest precedence first.
    package func listed(in channel: ChannelName) -> [Listing] {
        (channels[channel]?.versions ?? []).sorted { $0.version > $1.version }
    }

    /// What a device on `channel` may newly install, highest precedence first.
    ///
    /// Left out are yanked and recalled versions and those below the floor.
    /// Rollout, holds and denials depend on the device and on other documents.
    package func eligible(in channel: ChannelName) -> [Listing] {
        let floor = channels[channel]?.floor
        return listed(in: channel).filter { listing in
            states[listing.version] == nil && floor.map { listing.version >= $0 } ?? true
        }
    }

    /// What `channel` offers to all devices, highest precedence first: eligible, with the whole share.
    ///
    /// Its first is what the channel stands for wherever somebody asks about
    /// the channel and no device, and the only thing that makes up for what
    /// devices lose: of any smaller share some device has nothing.
    package func offeredToAll(in channel: ChannelName) -> [Listing] {
        eligible(in: channel).filter { $0.rollout == Listing.fullRollout }
    }

    package func state(of version: ModelVersion) -> VersionState? { states[version] }
}

/// What a channel lists.
package struct Channel: Equatable, Sendable {
    /// No version below it is activated from this channel.
    package var floor: ModelVersion?
    package var versions: [Listing]

    package init(floor: ModelVersion? = nil, versions: [Listing] = []) {
        self.floor = floor
        self.versions = versions
    }
}

/// A version by name and by the digest of its manifest.
package struct ListedVersion: Equatable, Hashable, Sendable {
    package var version: ModelVersion
    package var manifest: Digest

    package init(version: ModelVersion, manifest: Digest) {
        self.version = version
        self.manifest = manifest
    }
}

/// One version on a channel.
package struct Listing: Equatable, Sendable {
    /// Everybody.
    package static let fullRollout = 10_000

    package var version: ModelVersion
    package var manifest: Digest

    /// Ten-thousandths of the devices that may take it: `0 ... 10_000`.
    package var rollout: Int

    /// Manifests of higher precedence that devices leave for this version.
    package var replaces: [Digest]

    package init(version: ModelVersion, manifest: Digest, rollout: Int = fullRollout, replaces: [Digest] = [])
    {
        self.version = version
        self.manifest = manifest
        self.rollout = rollout
        self.replaces = replaces
    }

    package var identity: ListedVersion { ListedVersion(version: version, manifest: manifest) }
}

/// A version that was withdrawn.
package struct VersionState: Equatable, Sendable {
    /// Yanked is never newly installed; recalled is left at once.
    package enum Kind: String, Sendable, CaseIterable {
        case yanked, recalled
    }

    package var kind: Kind
    package var reason: String
    package var time: UnixTime

    package init(kind: Kind, reason: String, time: UnixTime) {
        self.kind = kind
        self.reason = reason
        self.time = time
    }
}
