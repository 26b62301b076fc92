package import Manifest
package import Names
package import Transfer
import Trust

/// One thing that happened to a model, and whose signature says so.
package struct HistoryEvent: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case released
        case listed(ChannelName, rollout: Int)
        case unlisted(ChannelName)
        case withdrawn(VersionState.Kind, reason: String)
        case restored
    }

    /// When the first snapshot that shows it was signed; `nil` when that snapshot does not say.
    package let time: UnixTime?

    /// The version of that snapshot.
    package let snapshot: Int64
    package let version: ModelVersion
    package let kind: Kind

    /// The key IDs that signed the role file.
    package let signers: [String]
}

/// What a model's channels listed over time, from retained snapshots and role files, each signature verified.
///
/// This is the registry's own word, signed: that it told everybody the same is
/// for the transparency log to show, which is not consulted here.
package struct ModelHistory: Sendable {
    /// What was live from one snapshot on.
    package struct State: Sendable {
        package let snapshot: Int64
        package let time: UnixTime?
        package let live: LiveDocument
        package let signers: [String]
    }

    package let model: ModelName

    /// Oldest first.
    package let events: [HistoryEvent]
    package let states: [State]

    /// The oldest snapshot that the registry still has.
    package let retainedFrom: Int64

    /// What was live at `time`; `nil` before the first.
    package func state(at time: UnixTime) -> State? {
        states.last { state in state.time.map { $0 <= time } ?? false }
    }

    /// Reads and verifies a model's history.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - updater: Brings the chain up to date first; old files hang from its roots.
    ///   - fetcher: Gets retained files.
    ///   - location: Where they are.
    /// - Returns: The history, oldest first.
    /// - Throws: `AuditError` at the first file that is not what it must be.
    package static func read(
        of model: ModelName,
        through updater: MetadataUpdater,
        fetcher: any Fetching,
        location: RepositoryLocation
    ) async throws(AuditError) -> ModelHistory {
        var updater = updater
        do { try await updater.refresh() } catch { throw .chain(error) }
        guard let newest = updater.snapshot else { throw .chain(.refused(.missing(role: .snapshot))) }
        var files = RetainedFiles(fetcher: fetcher, location: location, roots: updater.roots)
        let snapshots = try await snapshots(upTo: newest, files)
        var builder = HistoryBuilder(model: model)
        for snapshot in snapshots { try await builder.add(snapshot.document, &files) }
        guard !builder.events.isEmpty else { throw .unknownModel("\(model)") }
        return ModelHistory(
            model: model,
            events: builder.events,
            states: builder.states,
            retainedFrom: snapshots.first?.document.version ?? newest.document.version
        )
    }

    /// Every retained snapshot, oldest first; no role ever goes back from one to the next.
    private static func snapshots(
        upTo newest: Verified<SnapshotDocument>,
        _ files: RetainedFiles
    ) async throws(AuditError) -> [Verified<SnapshotDocument>] {
        var found = [newest]
        var later = newest.document
        while later.version > 1, let earlier = try await files.snapshot(later.version - 1) {
            for (role, file) in earlier.document.roles {
                guard let next = later.roles[role], next.version >= file.version else {
                    throw .contradiction(
                        "role \(role) has version \(file.version) in snapshot \(earlier.document.version), and "
                            + "\(later.roles[role].map { "\($0.version)" } ?? "is absent") in the one after"
                    )
                }
            }
            found.append(earlier)
            later = earlier.document
        }
        return found.reversed()
    }
}

/// Turns one snapshot after the other into what changed.
private struct HistoryBuilder {
    let model: ModelName
    private(set) var events: [HistoryEvent] = []
    private(set) var states: [ModelHistory.State] = []
    private var released: Set<TargetPath> = []
    private var releaseVersion: Int64 = 0
    private var liveVersion: Int64 = 0

    init(model: ModelName) { self.model = model }

    mutating func add(_ snapshot: SnapshotDocument, _ files: inout RetainedFiles) async throws(AuditError) {
        if let release = try await files.role(.release(model), in: snapshot),
            release.document.version > releaseVersion
        {
            releaseVersion = release.document.version
            addReleases(release, snapshot)
        }
        guard let live = try await files.role(.live(model), in: snapshot),
            live.document.version > liveVersion
        else { return }
        liveVersion = live.document.version
        let path = LiveDocument.targetPath(model: model)
        guard let bytes = try await files.content(of: path, in: live.document) else { return }
        let document: LiveDocument
        do { document = try LiveDocument(canonical: bytes, at: path) } catch {
            throw .document(path: path, error)
        }
        addChanges(from: states.last?.live ?? LiveDocument(model: model), to: document, live, snapshot)
        states.append(
            ModelHistory.State(
                snapshot: snapshot.version,
                time: snapshot.issued,
                live: document,
                signers: live.signers
            )
        )
    }

    private mutating func addReleases(_ release: Verified<TargetsDocument>, _ snapshot: SnapshotDocument) {
        let prefix = "\(model)/"
        for path in release.document.targets.keys.sorted() where !released.contains(path) {
            released.insert(path)
            guard let version = ModelVersion(path.description.dropFirst(prefix.count).dropLast(5)) else {
                continue
            }
            events.append(event(snapshot, version, .released, release.signers))
        }
    }

    private mutating func addChanges(
        from old: LiveDocument,
        to new: LiveDocument,
        _ role: Verified<TargetsDocument>,
        _ snapshot: SnapshotDocument
    ) {
        for channel in Set(old.channels.keys).union(new.channels.keys).sorted() {
            let before = old.listed(in: channel)
            let after = new.listed(in: channel)
            for listing in before where !after.contains(where: { $0.identity == listing.identity }) {
                events.append(event(snapshot, listing.version, .unlisted(channel), role.signers))
            }
            for listing in after.reversed() {
                let earlier = before.first { $0.identity == listing.identity }
                guard earlier?.rollout != listing.rollout else { continue }
                events.append(
                    event(
                        snapshot,
                        listing.version,
                        .listed(channel, rollout: listing.rollout),
                        role.signers
                    )
                )
            }
        }
        for version in Set(old.states.keys).union(new.states.keys).sorted() {
            let state = new.states[version]
            guard state != old.states[version] else { continue }
            let kind: HistoryEvent.Kind = state.map { .withdrawn($0.kind, reason: $0.reason) } ?? .restored
            events.append(event(snapshot, version, kind, role.signers))
        }
    }

    private func event(
        _ snapshot: SnapshotDocument,
        _ version: ModelVersion,
        _ kind: HistoryEvent.Kind,
        _ signers: [String]
    ) -> HistoryEvent {
        HistoryEvent(
            time: snapshot.issued,
            snapshot: snapshot.version,
            version: version,
            kind: kind,
            signers: signers
        )
    }
}
