import Manifest
import Names
import Trust

/// What the number of a new version must say, by what changed since the release before it.
///
/// The release before it is the greatest one below that is no pre-release, so
/// a fix of an older line is judged against that line. The release after it
/// is published already with a number that said something about the one
/// before; put between the two, the new one must leave that true as well. A
/// pre-release is judged as the version that it leads to. Before anything is
/// released, 0.1.0 and all above will do.
struct VersionRule {
    private static let first = ModelVersion(major: 1, minor: 0, patch: 0)
    private static let least = ModelVersion(major: 0, minor: 1, patch: 0)

    let model: ModelName

    /// No pre-releases.
    let released: [ModelVersion]

    init(_ model: ModelName, in release: TargetsDocument?) {
        self.model = model
        var released: [ModelVersion] = []
        let targets = release?.targets ?? TargetList([:])
        for (path, _) in targets {
            guard let version = ModelManifest.version(at: path.description, of: model), !version.isPrerelease
            else { continue }
            released.append(version)
        }
        self.released = released
    }

    /// The release that a version is compared with; with `nil`, what `next` would be.
    func predecessor(of version: ModelVersion?) -> ModelVersion? {
        released.filter { release in version.map { release < $0 } ?? true }.max()
    }

    /// The release that comes after a version which is put between others.
    ///
    /// A pre-release counts as the version that it leads to.
    func successor(of version: ModelVersion) -> ModelVersion? {
        released.filter { $0 > version.release }.min()
    }

    /// The smallest version that may follow, never a pre-release.
    ///
    /// - Parameter predecessor: The release before, and what changed since.
    /// - Returns: 1.0.0 for the first.
    func next(after predecessor: (version: ModelVersion, changes: ContractChanges)?) -> ModelVersion {
        guard let predecessor else { return Self.first }
        return predecessor.changes.step.applied(to: predecessor.version)
    }

    /// Checks a version that somebody chose.
    ///
    /// - Throws: `PublishingError.breaking`, with the rows and the version that would do.
    func check(
        _ version: ModelVersion,
        after predecessor: (version: ModelVersion, changes: ContractChanges)?
    ) throws(PublishingError) {
        guard let predecessor else {
            guard version >= Self.least else {
                throw .unpublishable("\(model) \(version): a first version is at least \(Self.least)")
            }
            return
        }
        let (base, changes) = predecessor
        guard !changes.step.isReached(by: version, from: base) else { return }
        throw .breaking(
            "\(model) \(version) is too small a step from \(base): it brings \(Self.kind(changes.step, from: base)); "
                + "publish it as \(free(changes.step, from: base)), or say --version next",
            rows: changes.decisive.prefix(8).map(\.description)
        )
    }

    /// Checks a version that is put below one that is published.
    ///
    /// - Parameters:
    ///   - version: The new one.
    ///   - successor: The release after it, and what changes from the new version to that one.
    /// - Throws: `PublishingError.breaking` when that one's number would say too little of it.
    func check(
        _ version: ModelVersion,
        before successor: (version: ModelVersion, changes: ContractChanges)
    ) throws(PublishingError) {
        let (next, changes) = successor
        guard !changes.step.isReached(by: next, from: version.release) else { return }
        throw .breaking(
            "\(model) \(version) would stand before \(next), which is published, and from it to \(next) there is "
                + "\(Self.kind(changes.step, from: version)), a greater step than these numbers say; "
                + "publish it above \(released.max() ?? next), or say --version next",
            rows: changes.decisive.prefix(8).map(\.description)
        )
    }

    /// The smallest version that the step asks for and that is not taken.
    private func free(_ step: VersionStep, from base: ModelVersion) -> ModelVersion {
        let wanted = step.applied(to: base)
        guard released.contains(wanted), let latest = released.max() else { return wanted }
        return step.applied(to: latest)
    }

    /// What a step says, and which number says it.
    private static func kind(_ step: VersionStep, from base: ModelVersion) -> String {
        switch step {
        case .patch: "a fix, which the last number says"
        case .minor: "something new, which the minor number says"
        case .major where base.major == 0:
            "a breaking change, which below 1.0.0 the minor number says (SemVer 2.0.0, 4)"
        case .major: "a breaking change, which the major number says"
        }
    }
}
