import Blocking
import Durable
import Generations
import Manifest
import Names
import Transfer
import Trust

/// One sync, from the first request to the report.
///
/// Refresh trust, choose, leave what is recalled or denied, fetch, check,
/// install, build the generation, one rename, collect. Everything before the
/// rename only adds; so whatever fails, and whenever the process ends, the old
/// generation stays as it was. What is wrong in the directory ends a sync only
/// after that leaving, unless nothing can be left without it.
struct SyncRun: Sendable {
    let configuration: SyncConfiguration
    let mode: SyncMode
    let peers: Peers
    let clock: UnixTime
    let events: @Sendable (SyncEvent) -> Void

    func run() async throws(SyncError) -> SyncReport {
        var setbacks = Setbacks()
        let device = try openDevice(&setbacks)
        let lock = try await takeLock(device, &setbacks)
        defer { withExtendedLifetime(lock) {} }
        var (active, damage) = await activeGeneration(of: device)
        active = setbacks.sparing(active) { [active] () throws(SyncError) in try settleTrials(active, device)
        }
        var quarantine = setbacks.sparing(Quarantine()) { [active] () throws(SyncError) in
            try self.quarantine(active, device)
        }
        var warnings = damage.map { [$0] } ?? []
        if mode == .activate, setbacks.first == nil {
            // Now, and not after the network was asked: meanwhile an operator may change it.
            warnings += setbacks.sparing([]) { [active] () throws(SyncError) in
                try settleQuarantine(active, device)
            }
        }
        events(.phase(.refreshing))
        let sources = try sources(device)
        var (chain, settings) = try await trusted(sources, device, active, &setbacks)
        events(.phase(.choosing))
        let pins = setbacks.sparing(Pins()) { () throws(SyncError) in
            try onDisk { () throws(GenerationError) in try device.note(Pins.self) }
        }
        let local = LocalNotes(quarantine: quarantine, pins: pins)
        let group = setbacks.sparing(GroupRule(requests: requests, note: GroupNote())) {
            () throws(SyncError) in
            try onDisk { () throws(GenerationError) in GroupRule(requests: requests, note: try device.note())
            }
        }
        var (plans, recalled) = await choose(device, active?.record, local, &chain, &setbacks)
        if recalled == nil, mode == .activate { await search(sources, into: &chain.ledger) }
        group.apply(to: &plans)

        var report = SyncReport(
            outcome: mode == .dryRun ? .planned : .unchanged,
            generation: active?.number,
            models: [],
            freshUntil: chain.freshUntil.description,
            bytesFetched: 0,
            warnings: warnings
        )
        report.pollSeconds = settings.pollSeconds
        report.warnings += setbacks.sparing([]) { () throws(SyncError) in
            try save(recalled, sources.store, chain, settings, to: device)
        }
        let before = active?.record
        // What could not be read this time may not be gone back to again.
        let withdrawn = recalled ?? (try? device.trustState())?.recalled ?? []
        var forbidden = denied(by: chain.ledger, active, device)
            .union(withdrawn)
            .union(quarantine.entries.map(\.manifest))
            .union(plans.compactMap(\.forgery))
        if mode == .activate {
            active = try await leaveRecalled(plans, active, forbidden, device)
            if let failure = sources.store.failure { setbacks.note(SyncError(failure)) }
            if setbacks.first != nil {
                do throws(SyncError) { try await purge(active, forbidden, device) } catch {
                    setbacks.note(error)
                }
            }
        }
        try setbacks.end()
        if mode == .activate {
            if let pin = sources.pin { try pin.save(to: device) }
            report.bytesFetched = await receive(&plans, chain, device)
            try releaseReceived(plans, device)
            report.warnings += await runChecks(&plans, &quarantine, device)
            forbidden.formUnion(quarantine.entries.map(\.manifest))
        } else {
            report.warnings += await preview(&plans, device)
        }
        group.apply(to: &plans)
        let lingering = await lingering(plans, before, device, &chain)
        if mode == .activate {
            report.generation = try await activate(plans, lingering, over: active, forbidden, device, &report)
            report.warnings += await collect(device, chain, plans)
        }
        report.warnings += chain.warnings + leaving(before, lingering)
        report.models = plans.map(\.decision)
        if mode == .activate {
            report.warnings += note(report.models, group.noted(plans), on: device)
        }
        for decision in report.models { events(.decided(decision)) }
        return report
    }

    /// The requests in the order of their plans.
    var requests: [WantedModel] { configuration.models.sorted { $0.name < $1.name } }

    /// The chain of this sync; where it cannot be used, what is denied is left all the same.
    private func trusted(
        _ sources: Sources,
        _ device: DeviceDirectory,
        _ active: ActiveGeneration?,
        _ setbacks: inout Setbacks
    ) async throws(SyncError) -> (RegistryChain, SettingsDocument) {
        var ledger = setbacks.sparing(DenialLedger()) { () throws(SyncError) in
            try onDisk { () throws(GenerationError) in try device.note(DenialLedger.self) }
        }
        do throws(SyncError) {
            var chain = try await refreshedChain(sources, device, active?.record, ledger)
            let settings = try await chain.settings()
            return (chain, settings)
        } catch {
            guard mode == .activate else { throw error }
            if error.kind == .refused || error.kind == .expired {
                await search(sources, into: &ledger)
                _ = setbacks.sparing([]) { [ledger] () throws(SyncError) in
                    try noting { () throws(GenerationError) in try ledger.save(on: device) }
                }
            }
            try await leaveKnown(ledger, active, device)
            throw error
        }
    }

    /// Models that are active and not asked for, which stay while not all that is asked for is there.
    ///
    /// A name that was mistyped, or a registry that fails, must not take a
    /// working model away. What is recalled or denied leaves all the same.
    private func lingering(
        _ plans: [ModelPlan],
        _ active: GenerationRecord?,
        _ device: DeviceDirectory,
        _ chain: inout RegistryChain
    ) async -> [GenerationRecord.Model] {
        guard let active, !plans.allSatisfy(\.isResolved) else { return [] }
        let wanted = Set(configuration.models.map(\.name))
        let recalled = Set((try? device.trustState())?.recalled ?? [])
        var kept: [GenerationRecord.Model] = []
        for model in active.models where !wanted.contains(model.identity.model) {
            let identity = model.identity
            guard !recalled.contains(identity.manifest) else { continue }
            let roles = (try? await chain.roles(of: identity.model)).flatMap { $0 }
            if let roles, let signed = try? await chain.chain(of: identity.model, roles) {
                guard signed.withdrawal(of: identity.version, identity.manifest) == nil else { continue }
            }
            guard chain.denial(of: identity) == nil else { continue }
            kept.append(model)
        }
        return kept
    }

    /// A device keeps what one sync asks for; whoever forgot a model should read so here first.
    private func leaving(_ active: GenerationRecord?, _ lingering: [GenerationRecord.Model]) -> [String] {
        let wanted = Set(configuration.models.map(\.name))
        return (active?.models ?? []).filter { !wanted.contains($0.identity.model) }.map { model in
            let name = "\(model.identity.model) \(model.identity.version)"
            return lingering.contains(model)
                ? "\(name) stays for now: it is not among the models asked for, and leaves when all of those are there"
                : "\(name) leaves: it is not among the models asked for, and a sync keeps those alone"
        }
    }

    /// - Returns: A plan for each request, and all recalled manifests if every model's documents could be read.
    private func choose(
        _ device: DeviceDirectory,
        _ active: GenerationRecord?,
        _ local: LocalNotes,
        _ chain: inout RegistryChain,
        _ setbacks: inout Setbacks
    ) async -> ([ModelPlan], recalled: [Digest]?) {
        let known = setbacks.sparing([]) { () throws(SyncError) in
            try onDisk { () throws(GenerationError) in try device.versionsKnown() }
        }
        let ran = Set(known.map(\.identity.manifest))
        let secret = setbacks.sparing(nil) { () throws(SyncError) in try rolloutSecret(device) }
        var machine = Machine.current
        machine.runtimes = configuration.runtimes.map(\.limits)
        let planning = Planning(
            device: device,
            machine: machine,
            rules: { request in
                DeviceRules(
                    floor: request.floor,
                    pin: local.pins.versions[request.name],
                    quarantine: local.reasons,
                    hasRun: { ran.contains($0) },
                    bucket: { manifest, channel in
                        // Without a secret, at the end of every rollout.
                        guard let secret else { return Listing.fullRollout - 1 }
                        return RolloutBucket.bucket(secret: secret, manifest: manifest, channel: channel)
                    }
                )
            },
            known: known,
            explain: { explain($0, $1, device, active) }
        )
        var plans: [ModelPlan] = []
        var recalled: [Digest]? = []
        for request in requests {
            let (plan, found) = await planning.plan(request, active: active?.model(request.name), &chain)
            plans.append(plan)
            recalled = found.flatMap { found in recalled.map { $0 + found } }
        }
        return (plans, recalled)
    }

    /// A dry run makes none.
    private func rolloutSecret(_ device: DeviceDirectory) throws(SyncError) -> [UInt8]? {
        if mode == .activate { return try RolloutBucket.secret(of: device) }
        return (try? RolloutBucket.storedSecret(of: device)) ?? nil
    }
}

/// What this device noted about versions.
struct LocalNotes: Sendable {
    let quarantine: Quarantine
    let pins: Pins

    /// Why a manifest is not taken again.
    var reasons: [Digest: String] {
        Dictionary(quarantine.entries.map { ($0.manifest, $0.reason) }) { first, _ in first }
    }
}
