import Durable
import Generations
import Manifest
import Names
import Transfer
import Trust

/// The part of a sync that decides what to believe.
extension SyncRun {
    /// What a chain is verified from, and with.
    struct Sources: Sendable {
        let anchor: [UInt8]
        let store: OverlayStore
        let mirrors: Mirrors
        let floor: UnixTime?

        /// What the directory is to be pinned to once a registry has answered.
        let pin: PinnedRoot?
    }

    func sources(_ device: DeviceDirectory) throws(SyncError) -> Sources {
        let anchor = try PinnedRoot.bytes(ofFile: configuration.rootFile)
        let folder = FolderMetadataStore(directory: device.trustPath)
        let store = OverlayStore(over: folder, writing: mode == .dryRun ? .never : .whatCanBe)
        return Sources(
            anchor: anchor,
            store: store,
            mirrors: Mirrors(configuration.registries.map { RepositoryLocation(base: $0) }, peers.standings),
            floor: (try? device.trustState())?.clockFloor,
            pin: try pin(anchor, device, store)
        )
    }

    /// The chain that is trusted now; nobody is asked again for what brought news in `updated`.
    func refreshedChain(
        _ sources: Sources,
        _ device: DeviceDirectory,
        _ active: GenerationRecord?,
        _ ledger: DenialLedger,
        _ updated: MetadataUpdater?
    ) async throws(SyncError) -> RegistryChain {
        guard let first = sources.mirrors.locations.first else {
            throw SyncError(.usage, "no registry; give --registry URL")
        }
        var updater = updated ?? self.updater(sources, at: clock, floor: sources.floor)
        if updated == nil {
            do throws(UpdateError) { try await updater.poll(for: rolesOfRequests) } catch {
                throw explain(error, "\(updater.culprit ?? first)", device, active)
            }
        }
        let contents = TargetContents(
            store: sources.store,
            fetcher: peers.fetcher,
            mirrors: sources.mirrors
        )
        return RegistryChain(updater, contents: contents, mirrors: sources.mirrors, ledger: ledger)
    }

    func updater(_ sources: Sources, at time: UnixTime, floor: UnixTime?) -> MetadataUpdater {
        MetadataUpdater(
            anchor: sources.anchor,
            store: sources.store,
            fetcher: peers.fetcher,
            mirrors: sources.mirrors,
            now: time,
            floor: floor,
            policy: .sealift,
            keepsRoots: false
        )
    }

    /// The roles that every sync reads, each after those above it.
    private var rolesOfRequests: [SealiftRole] {
        var teams: [Namespace] = []
        for request in requests where teams.last != request.name.namespace {
            teams.append(request.name.namespace)
        }
        return [.hold] + teams.map(SealiftRole.namespace)
            + requests.flatMap { [.live($0.name), .release($0.name)] }
    }

    /// What an error of the chain means on this device.
    func explain(
        _ error: UpdateError,
        _ subject: String,
        _ device: DeviceDirectory,
        _ active: GenerationRecord?
    ) -> SyncError {
        var found = SyncError(error, subject)
        if case .refused(.thresholdNotMet) = error {
            found = SyncError(
                code: .signature,
                "\(found.message). Either the bytes are not what their owners signed, or \(configuration.rootFile) "
                    + "is not the root of this registry"
            )
        }
        guard error.isExpiry else { return found }
        guard let active else {
            return SyncError(
                code: .expired,
                "\(found.message). Nothing is active, and nothing new is accepted"
            )
        }
        guard let grace = (try? device.trustState())?.graceUntil, clock < grace else {
            return SyncError(
                code: .expired,
                "\(found.message). Nothing new is accepted; the grace of what is active is over"
            )
        }
        return SyncError(
            .expired,
            "\(found.message). Nothing new is accepted; generation \(active.number) may run until \(grace)"
        )
    }

    /// Adds denials from files that are signed and cannot be used for anything else.
    func search(_ sources: Sources, into ledger: inout DenialLedger) async {
        let search = DenialSearch(
            anchor: sources.anchor,
            store: sources.store,
            fetcher: peers.fetcher,
            mirrors: sources.mirrors,
            clock: TrustClock(policy: .sealift, local: clock, floor: sources.floor)
        )
        await search.run(into: &ledger, namespaces: Set(configuration.models.map(\.name.namespace)))
    }

    /// Notes what was learned; a full disk keeps nobody from obeying it.
    ///
    /// - Returns: A warning, when it could not be noted.
    func save(
        _ survey: DeviceSurvey,
        _ store: OverlayStore,
        _ chain: RegistryChain,
        _ settings: SettingsDocument,
        to device: DeviceDirectory
    ) throws(SyncError) -> [String] {
        guard mode == .activate else { return [] }
        return try noting { () throws(GenerationError) in
            let old = (try? device.trustState())?.recalled ?? []
            // What could not be read this time may not unsay a recall, and may have been newer.
            let kept = survey.isWhole && store.failure == nil ? [] : old
            let state = TrustState(
                checked: chain.now,
                freshUntil: chain.freshUntil,
                graceUntil: chain.freshUntil.adding(seconds: settings.grace),
                recalled: survey.withdrawn + kept,
                clockFloor: chain.clockFloor,
                afterGrace: settings.afterGrace
            )
            try device.save(state)
            try chain.ledger.save(on: device)
        }
    }

    /// Writes notes; without room for them the sync goes on.
    ///
    /// - Returns: A warning, when there was no room.
    func noting(_ steps: () throws(GenerationError) -> Void) throws(SyncError) -> [String] {
        do throws(GenerationError) {
            try steps()
            return []
        } catch {
            guard case .disk(let reason) = error, reason.isOutOfSpace else { throw SyncError(error) }
            return ["what was learned could not be noted: \(error)"]
        }
    }
}
