import Blocking
import Durable
import Generations
import Manifest
import Names
import Transfer
import Trust

/// One sync, from the first request to the report.
///
/// Refresh trust, choose, fetch, check, install, build the generation, one
/// rename, collect. Everything before the rename only adds; so whatever fails,
/// and whenever the process ends, the old generation stays as it was.
struct SyncRun: Sendable {
    let configuration: SyncConfiguration
    let mode: SyncMode
    let peers: Peers
    let clock: UnixTime
    let events: @Sendable (SyncEvent) -> Void

    func run() async throws(SyncError) -> SyncReport {
        let device = try openDevice()
        let lock = try await takeLock(device)
        defer { withExtendedLifetime(lock) {} }
        let (active, damage) = await activeRecord(of: device)
        events(.phase(.refreshing))
        var chain = try await refreshedChain(device, active)
        let settings = try await chain.settings()
        events(.phase(.choosing))
        var (plans, recalled) = try await choose(device, active, &chain)
        try save(recalled, chain, settings, to: device)

        var report = SyncReport(
            outcome: mode == .dryRun ? .planned : .unchanged,
            generation: active?.number,
            models: [],
            freshUntil: chain.freshUntil.description,
            bytesFetched: 0,
            warnings: damage.map { [$0] } ?? []
        )
        report.pollSeconds = settings.pollSeconds
        if mode == .activate {
            report.bytesFetched = await receive(&plans, chain, device)
            report.generation = try await activate(plans, over: active, device, &report)
            report.warnings += await collect(device, chain, plans)
        }
        report.warnings += chain.warnings + leaving(active)
        report.models = plans.map(\.decision)
        if mode == .activate {
            let earlier = try Decisions.load(from: device)
            try Decisions(models: report.models).keeping(earlier).save(to: device)
        }
        for decision in report.models { events(.decided(decision)) }
        return report
    }

    /// A device keeps what one sync asks for; whoever forgot a model should read so here first.
    private func leaving(_ active: GenerationRecord?) -> [String] {
        let wanted = Set(configuration.models.map(\.name))
        return (active?.models ?? []).filter { !wanted.contains($0.identity.model) }.map {
            "\($0.identity.model) \($0.identity.version) leaves: it is not among the models asked for, and a sync "
                + "keeps those alone"
        }
    }

    // MARK: the device

    private func openDevice() throws(SyncError) -> DeviceDirectory {
        let path = configuration.directory
        return try onDisk { () throws(GenerationError) in
            if mode == .activate { return try DeviceDirectory.create(path) }
            do throws(GenerationError) { return try DeviceDirectory.open(path) } catch {
                guard case .missing = error else { throw error }
                return DeviceDirectory.assumed(path)
            }
        }
    }

    /// A courtesy between syncs, so that they do not fetch the same bytes twice; safety does not rest on it.
    private func takeLock(_ device: DeviceDirectory) async throws(SyncError) -> DirectoryLock? {
        guard mode == .activate else { return nil }
        let patience = Double(configuration.lockPatience)
        do throws(DurableError) {
            return try await BlockingPool.shared.run { () throws(DurableError) in
                // Nobody can hold what is no file.
                if case .file? = try Durable.kind(of: device.lockPath) {
                } else {
                    try Durable.removeTree(device.lockPath)
                }
                return try DirectoryLock(device.lockPath, waiting: patience)
            }
        } catch {
            guard case .locked(_, let holder) = error else { throw SyncError(error) }
            throw SyncError(
                code: .locked,
                "another sync of \(device.path) is running (\(holder)) and did not end within "
                    + "\(configuration.lockPatience) s; try again later"
            )
        }
    }

    /// The active generation; one that cannot be read counts as none and is replaced.
    private func activeRecord(of device: DeviceDirectory) async -> (GenerationRecord?, damage: String?) {
        do throws(SyncError) {
            let active = try await onDiskThread { () throws(GenerationError) in try device.activeGeneration()
            }
            return (active?.record, nil)
        } catch {
            return (nil, error.message)
        }
    }

    // MARK: trust

    private func refreshedChain(
        _ device: DeviceDirectory,
        _ active: GenerationRecord?
    ) async throws(SyncError) -> RegistryChain {
        let anchor: [UInt8]
        do throws(DurableError) {
            anchor = try Durable.readFile(configuration.rootFile, maximum: Limits.root)
        } catch {
            throw SyncError(
                code: error.isAbsent || error.isWrongPlace ? .place : .usage,
                "the root of trust: \(error)"
            )
        }
        let folder = FolderMetadataStore(directory: device.trustPath)
        let store: any MetadataStore = mode == .dryRun ? OverlayStore(over: folder) : folder
        let pin = try pin(anchor, device, store)
        let floor = (try? device.trustState())?.clockFloor
        let all = configuration.registries.map { RepositoryLocation(base: $0) }
        var failure: SyncError?
        for location in all {
            var updater = MetadataUpdater(
                anchor: anchor,
                store: store,
                fetcher: peers.fetcher,
                repository: location,
                now: clock,
                floor: floor,
                policy: .sealift,
                keepsRoots: false
            )
            do throws(UpdateError) { try await updater.poll() } catch {
                let found = explain(error, "\(location)", device, active)
                // A refusal says more than an outage of another mirror.
                if failure == nil || failure?.kind == .temporary { failure = found }
                continue
            }
            if mode == .activate, let pin { try pin.save(to: device) }
            let locations = [location] + all.filter { $0 != location }
            let contents = TargetContents(store: store, fetcher: peers.fetcher, locations: locations)
            return RegistryChain(updater, contents: contents, locations: locations)
        }
        throw failure ?? SyncError(.usage, "no registry; give --registry URL")
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

    private func save(
        _ recalled: [Digest]?,
        _ chain: RegistryChain,
        _ settings: SettingsDocument,
        to device: DeviceDirectory
    ) throws(SyncError) {
        guard mode == .activate else { return }
        try onDisk { () throws(GenerationError) in
            let old = try? device.trustState()
            let state = TrustState(
                checked: chain.now,
                freshUntil: chain.freshUntil,
                graceUntil: chain.freshUntil.adding(seconds: settings.grace),
                // What could not be read this time may not unsay a recall.
                recalled: recalled ?? old?.recalled ?? [],
                clockFloor: chain.clockFloor
            )
            try device.save(state)
        }
    }

    // MARK: choosing

    /// - Returns: A plan for each request, and all recalled manifests if every model's documents could be read.
    private func choose(
        _ device: DeviceDirectory,
        _ active: GenerationRecord?,
        _ chain: inout RegistryChain
    ) async throws(SyncError) -> ([ModelPlan], recalled: [Digest]?) {
        let ran = try onDisk { () throws(GenerationError) in try device.manifestsRun() }
        let secret = try rolloutSecret(device)
        var machine = Machine.current
        machine.runtimes = configuration.runtimes.map(\.limits)
        let planning = Planning(
            device: device,
            machine: machine,
            bucket: { RolloutBucket.bucket(secret: secret, manifest: $0, channel: $1) },
            hasRun: { ran.contains($0) },
            explain: { explain($0, $1, device, active) }
        )
        var plans: [ModelPlan] = []
        var recalled: [Digest]? = []
        for request in configuration.models.sorted(by: { $0.name < $1.name }) {
            let (plan, found) = await planning.plan(request, active: active?.model(request.name), &chain)
            plans.append(plan)
            recalled = found.flatMap { found in recalled.map { $0 + found } }
        }
        return (plans, recalled)
    }

    /// A dry run on a device without a secret stands at the end of every rollout.
    private func rolloutSecret(_ device: DeviceDirectory) throws(SyncError) -> [UInt8] {
        if mode == .activate { return try RolloutBucket.secret(of: device) }
        return (try? RolloutBucket.storedSecret(of: device)) ?? []
    }
}
