import Manifest
import Names
import Trust

/// What the number of a new version must say, by what changed since the release before it.
///
/// The release before it is the greatest one below that is no pre-release, so
/// a fix of an older line is judged against that line. A pre-release is judged
/// as the version that it leads to. Before anything is released, 0.1.0 and all
/// above will do.
struct VersionRule {
    private static let first = ModelVersion(major: 1, minor: 0, patch: 0)
    private static let least = ModelVersion(major: 0, minor: 1, patch: 0)

    let model: ModelName

    /// No pre-releases.
    let released: [ModelVersion]

    init(_ model: ModelName, in release: TargetsDocument?) {
        self.model = model
        let prefix = "\(model)/"
        var released: [ModelVersion] = []
        let targets = release?.targets ?? TargetList([:])
        for (path, _) in targets {
            let text = path.description
            guard text.hasPrefix(prefix), text.hasSuffix(".json"),
                let version = ModelVersion(text.dropFirst(prefix.count).dropLast(5)), !version.isPrerelease
            else { continue }
            released.append(version)
        }
        self.released = released
    }

    /// The release that a version is compared with; with `nil`, what `next` would be.
    func predecessor(of version: ModelVersion?) -> ModelVersion? {
        released.filter { release in version.map { release < $0 } ?? true }.max()
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
    /// - Throws: `PublishingError.unpublishable`, with the rows and the version that would do.
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
        var wanted = changes.step.applied(to: base)
        if released.contains(wanted), let latest = released.max() {
            wanted = changes.step.applied(to: latest)
        }
        let rows = changes.decisive.prefix(8).map { "\n  \($0)" }.joined()
        let reasons = rows.isEmpty ? "" : ":" + rows
        throw .unpublishable(
            "\(model) \(version) is too small a step from \(base), which needs a \(changes.step.rawValue) one; "
                + "publish it as \(wanted), or say --version next\(reasons)"
        )
    }
}
