package import Manifest
package import Names
package import Trust

/// A registry's signed state at one moment, verified as a device verifies it: what every change builds on.
package struct RegistryState: Sendable {
    /// The roots that a device may be pinned to, oldest first; the last is the one that counts now.
    package let roots: [Verified<RootDocument>]

    /// The files of the roles that were read, each under its delegator.
    package let roles: [SealiftRole: Verified<TargetsDocument>]

    /// Whether every role that the snapshot lists was read.
    package let isComplete: Bool

    /// Documents that roles list, by path, where they were read.
    package let contents: [String: [UInt8]]

    package init(
        roots: [Verified<RootDocument>],
        roles: [SealiftRole: Verified<TargetsDocument>],
        isComplete: Bool,
        contents: [String: [UInt8]] = [:]
    ) {
        self.roots = roots
        self.roles = roles
        self.isComplete = isComplete
        self.contents = contents
    }

    /// This state with further documents read.
    func reading(_ more: [String: [UInt8]]) -> RegistryState {
        RegistryState(
            roots: roots,
            roles: roles,
            isComplete: isComplete,
            contents: contents.merging(more) { first, _ in first }
        )
    }

    /// The root that counts now.
    package func root() throws(PublishingError) -> Verified<RootDocument> {
        guard let root = roots.last else { throw .usage("the registry's chain was not read yet") }
        return root
    }

    /// What the administrators ask of devices; the defaults where they have said nothing.
    package func settings() throws(PublishingError) -> SettingsDocument {
        try Self.settings(contents[SettingsDocument.targetPath])
    }

    static func settings(_ bytes: [UInt8]?) throws(PublishingError) -> SettingsDocument {
        guard let bytes else { return SettingsDocument() }
        do { return try SettingsDocument(canonical: bytes) } catch {
            throw .unpublishable("the registry's \(SettingsDocument.targetPath) cannot be used: \(error)")
        }
    }

    /// Seconds that a signature by an offline key may live, as the root says.
    ///
    /// A root that says nothing leaves the most that any profile allows; the
    /// registry then judges.
    package func lifetime() throws(PublishingError) -> Int64 {
        try root().document.sealift?.maximumLifetimes[.targets] ?? SealiftShapes.longestLifetime
    }

    /// The channels of a model; a document without channels when none is published.
    package func live(of model: ModelName) throws(PublishingError) -> LiveDocument {
        let path = LiveDocument.targetPath(model: model)
        guard let bytes = contents[path] else { return LiveDocument(model: model) }
        return try Self.live(of: model, bytes)
    }

    static func live(of model: ModelName, _ bytes: [UInt8]) throws(PublishingError) -> LiveDocument {
        let path = LiveDocument.targetPath(model: model)
        do { return try LiveDocument(canonical: bytes, at: path) } catch {
            throw .unpublishable("the registry's \(path) cannot be used: \(error)")
        }
    }

    /// The released versions of a model, with the digests of their manifests.
    package func released(of model: ModelName) -> [ModelVersion: Digest] {
        Self.released(of: model, by: roles[.release(model)]?.document)
    }

    static func released(of model: ModelName, by role: TargetsDocument?) -> [ModelVersion: Digest] {
        var released: [ModelVersion: Digest] = [:]
        for (path, file) in role?.targets ?? [:] {
            guard let version = ModelManifest.version(at: path.description, of: model) else { continue }
            released[version] = file.sha256
        }
        return released
    }
}

/// Which part of a registry a change needs to see.
package enum StateScope: Sendable {
    /// The roles and channels of one model, and what delegates to them.
    case model(ModelName)

    /// Every role, and every root that a device may be pinned to.
    case everything
}
