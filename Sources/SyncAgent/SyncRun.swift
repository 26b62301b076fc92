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
///
/// While files are received the registry is asked for news now and then, and
/// with any it all begins again: no download keeps a recall waiting.
struct SyncRun: Sendable {
    let configuration: SyncConfiguration
    let mode: SyncMode
    let peers: Peers
    let time: @Sendable () -> UnixTime
    let events: @Sendable (SyncEvent) -> Void

    /// The time of the present round.
    private(set) var clock: UnixTime

    init(
        configuration: SyncConfiguration,
        mode: SyncMode,
        peers: Peers,
        time: @escaping @Sendable () -> UnixTime,
        events: @escaping @Sendable (SyncEvent) -> Void
    ) {
        self.configuration = configuration
        self.mode = mode
        self.peers = peers
        self.time = time
        self.events = events
        clock = time()
    }

    func run() async throws(SyncError) -> SyncReport {
        var setbacks = Setbacks()
        let device = try openDevice(&setbacks)
        let lock = try await takeLock(device, &setbacks)
        defer { withExtendedLifetime(lock) {} }
        peers.standings.forgetTroubles()
        var course = SyncCourse(events)
        var round = SyncRun(configuration: configuration, mode: mode, peers: peers, time: time) { [course] in
            course.tell($0)
        }
        round.clock = clock
        while true {
            if let report = try await round.report(device, setbacks, &course) { return report }
            if let news = course.news { round.clock = news.time }
        }
    }

    /// One round: all of a sync, or what there is until news came.
    ///
    /// - Returns: `nil` when it is to begin again.
    private func report(
        _ device: DeviceDirectory,
        _ setbacks: Setbacks,
        _ course: inout SyncCourse
    ) async throws(SyncError) -> SyncReport? {
        var setbacks = setbacks
        var (active, damage) = await activeGeneration(of: device)
        active = setbacks.sparing(active) { [active] () throws(SyncError) in try settleTrials(active, device)
        }
        var quarantine = setbacks.sparing(Quarantine()) { [active] () throws(SyncError) in
            try self.quarantine(active, device)
        }
        course.warn(damage.map { [$0] } ?? [])
        if mode == .activate, setbacks.first == nil {
            // Now, and not after the network was asked: meanwhile an operator may change it.
            course.warn(
                setbacks.sparing([]) { [active] () throws(SyncError) in
                    try settleQuarantine(active, device)
                }
            )
        }
        events(.phase(.refreshing))
        let sources: Sources
        if let news = course.news { sources = news.sources } else { sources = try self.sources(device) }
        let pins = setbacks.sparing(Pins()) { () throws(SyncError) in
            try onDisk { () throws(GenerationError) in try device.note(Pins.self) }
        }
        let local = LocalNotes(quarantine: quarantine, pins: pins)
        var chain = try await trusted(sources, device, active, local, course.news?.updater, &setbacks)
        events(.phase(.choosing))
        let group = setbacks.sparing(GroupRule(requests: requests, note: GroupNote())) {
            () throws(SyncError) in
            try onDisk { () throws(GenerationError) in GroupRule(requests: requests, note: try device.note())
            }
        }
        let (secret, warned) = setbacks.sparing((nil, [])) { () throws(SyncError) in try rolloutSecret(device)
        }
        course.warn(warned)
        let known = setbacks.sparing([]) { () throws(SyncError) in
            try onDisk { () throws(GenerationError) in try device.versionsKnown() }
        }
        let planning = planning(device, active?.record, local, known, secret)
        let before = course.record(before: active)
        var survey = await survey(planning, before, &chain)
        course.warn(try await leaveRecalled(&survey, planning, sources, &active, &chain, local, device))
        course.note(active)
        // Nothing is taken without the settings, and nothing that must be left waits for them.
        var settings: SettingsDocument?
        do throws(SyncError) { settings = try await chain.settings() } catch { setbacks.note(error) }
        for index in survey.models.indices { await planning.weigh(&survey.models[index], &chain) }

        var report = SyncReport(
            outcome: mode == .dryRun ? .planned : .unchanged,
            generation: active?.number,
            models: [],
            freshUntil: chain.freshUntil.description,
            bytesFetched: 0,
            warnings: []
        )
        if let settings {
            report.pollSeconds = settings.pollSeconds
            report.warnings += setbacks.sparing([]) { () throws(SyncError) in
                try save(survey, sources.store, chain, settings, to: device)
            }
        }
        var forbidden = forbidden(survey, chain.ledger, active, local, device)
        if mode == .activate {
            if let failure = sources.store.failure { setbacks.note(SyncError(failure)) }
            if setbacks.first != nil {
                do throws(SyncError) { try await purge(active, forbidden, device) } catch {
                    setbacks.note(error)
                }
            }
        }
        try setbacks.end()
        for index in survey.models.indices { await planning.settle(&survey.models[index], &chain) }
        if mode == .activate, let failure = sources.store.failure { throw SyncError(failure) }
        var plans = survey.models.map(\.plan)
        group.apply(to: &plans)
        if mode == .activate {
            if let pin = sources.pin { try pin.save(to: device) }
            course.news = await receiveWatching(&plans, chain, sources, report.pollSeconds, device, course)
            if course.news != nil, !Task.isCancelled { return nil }
            report.bytesFetched = course.received
            try releaseReceived(plans, device)
            report.warnings += await runChecks(&plans, &quarantine, device)
            forbidden.formUnion(quarantine.entries.map(\.manifest))
        } else {
            report.warnings += await preview(&plans, device)
        }
        group.apply(to: &plans)
        let lingering = lingering(plans, survey)
        if mode == .activate {
            report.generation = try await activate(plans, lingering, over: active, forbidden, device, &report)
            report.warnings += await collect(device, chain, plans)
        }
        report.warnings = course.warnings + report.warnings + chain.warnings + leaving(before, lingering)
        report.warnings += sources.mirrors.troubles.map { location, what in
            "\(location) failed and another location was asked instead: \(what)"
        }
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
        _ local: LocalNotes,
        _ updated: MetadataUpdater?,
        _ setbacks: inout Setbacks
    ) async throws(SyncError) -> RegistryChain {
        var ledger = setbacks.sparing(DenialLedger()) { () throws(SyncError) in
            try onDisk { () throws(GenerationError) in try device.note(DenialLedger.self) }
        }
        do throws(SyncError) {
            return try await refreshedChain(sources, device, active?.record, ledger, updated)
        } catch {
            guard mode == .activate else { throw error }
            if error.kind == .refused || error.kind == .expired {
                await search(sources, into: &ledger)
                _ = setbacks.sparing([]) { [ledger] () throws(SyncError) in
                    try noting { () throws(GenerationError) in try ledger.save(on: device) }
                }
            }
            try await leaveKnown(ledger, sources, active, local, device)
            throw error
        }
    }

    /// Models that are active and not asked for, which stay while not all that is asked for is there.
    ///
    /// A name that was mistyped, or a registry that fails, must not take a
    /// working model away. What is recalled or denied leaves all the same.
    private func lingering(_ plans: [ModelPlan], _ survey: DeviceSurvey) -> [GenerationRecord.Model] {
        guard !plans.allSatisfy(\.isResolved) else { return [] }
        return survey.unasked.filter { !$0.isWithdrawn }.map(\.model)
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

    /// A dry run makes none.
    private func rolloutSecret(_ device: DeviceDirectory) throws(SyncError) -> ([UInt8]?, [String]) {
        guard mode == .activate else { return ((try? RolloutBucket.storedSecret(of: device)) ?? nil, []) }
        let (secret, warnings) = try RolloutBucket.secret(of: device)
        return (secret, warnings)
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
