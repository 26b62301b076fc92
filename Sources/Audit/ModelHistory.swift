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

        /// Devices that have one of these versions leave it for the one that the channel lists.
        case replacing(ChannelName, [ModelVersion])

        /// The lowest version that a channel has activated from now on.
        case floor(ChannelName)
        case floorLifted(ChannelName)
        case withdrawn(VersionState.Kind, reason: String)
        case restored

        /// From above the model's own keys, by a role.
        case denied(by: String, reason: String)
        case denialLifted(by: String)
        case held(until: UnixTime, reason: String)
        case unheld

        /// Who may sign for the model, or above it, is another from now on.
        case keys(KeyChange)
    }

    /// How the keys of a role differ from those before, by key ID.
    package struct KeyChange: Sendable, Equatable {
        package let role: String
        package let added: [String]
        package let revoked: [String]

        /// How many of its keys have to sign.
        package let threshold: Int
    }

    /// When the first snapshot that shows it was signed; `nil` when that snapshot does not say.
    package let time: UnixTime?

    /// The version of that snapshot.
    package let snapshot: Int64

    /// `nil` for a manifest, denied or held, that is released as no version, and for what is about no version.
    package let version: ModelVersion?
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

        /// Denied versions, and by which roles.
        package let denials: [ModelVersion: [String]]

        /// Held versions, some of which may have ended since.
        package let holds: [ModelVersion: Hold]
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
