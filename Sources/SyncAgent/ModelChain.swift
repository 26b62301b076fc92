import Generations
import Manifest
import Names
import Trust

/// What the verified chain says of one model, gathered for the choice.
struct ModelChain: Sendable {
    let model: ModelName

    /// Where versions go; `nil` while no version was ever put into use.
    var live: LiveDocument?

    /// What the release role signed, by version.
    var releases: [ModelVersion: Digest]

    /// Of the administrators and of the model's team.
    var denials: [Denial]

    /// Manifests that this device knows must not run, where what says so cannot be had anew.
    var withdrawn: Set<Digest> = []

    /// What the registry holds back at this moment.
    var holds: [Digest: Hold]

    /// Why nobody knows what the registry holds back; nothing is newly taken then.
    var withheld: SyncError?

    init(
        model: ModelName,
        live: LiveDocument? = nil,
        releases: [ModelVersion: Digest] = [:],
        denials: [Denial] = [],
        holds: [Digest: Hold] = [:]
    ) {
        self.model = model
        self.live = live
        self.releases = releases
        self.denials = denials
        self.holds = holds
    }

    /// Adds what the release role lists.
    mutating func add(_ release: TargetsDocument?) {
        for (path, file) in release?.targets ?? [:] {
            if let version = ModelManifest.version(at: path.description, of: model), let digest = file.sha256
            {
                releases[version] = digest
            }
        }
    }

    /// Why a device must leave this version now; `nil` when it need not.
    func withdrawal(of version: ModelVersion, _ manifest: Digest) -> Obstacle? {
        if let denial = denials.first(where: { $0.denies(model, version: version, manifest: manifest) }) {
            return .denied(denial)
        }
        if let state = live?.state(of: version), state.kind == .recalled { return .recalled(state) }
        return withdrawn.contains(manifest) ? .withdrawn : nil
    }

    /// Why an active version is not believed to be what its owners released; `nil` when the release role lists it.
    ///
    /// A release role only ever grows. While it cannot be had at all, it says nothing.
    func forgery(_ active: VersionIdentity) -> Obstacle? {
        let signed = releases[active.version]
        guard !releases.isEmpty, signed != active.manifest else { return nil }
        return .unsigned(active.manifest, signed: signed)
    }

    /// The digests of all manifests that a device must not run.
    var recalled: [Digest] {
        let listed = live?.channels.values.flatMap { $0.versions.map(\.identity) } ?? []
        let released = releases.map { ListedVersion(version: $0.key, manifest: $0.value) }
        return Set(listed + released).filter { withdrawal(of: $0.version, $0.manifest) != nil }.map(
            \.manifest
        )
    }
}
