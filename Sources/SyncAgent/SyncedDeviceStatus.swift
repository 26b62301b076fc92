import Generations
import Manifest
package import Names

/// What a device has, what it lacks, and how current it is.
extension SyncedDevice {
    /// What is active, what is wanted and is not, and how current it is now.
    ///
    /// - Parameter wanted: What the device should have; where nobody says, what the last sync was asked for.
    /// - Returns: The state; what is wrong with a model is said there, not thrown.
    /// - Throws: `SyncError` when the active generation cannot be read at all.
    public func status(wanted: [WantedModel] = []) throws(SyncError) -> DeviceStatus {
        try status(wanted: wanted, at: clock())
    }

    /// The same at `now`.
    package func status(wanted: [WantedModel] = [], at now: UnixTime) throws(SyncError) -> DeviceStatus {
        let generation = try onDisk { () throws(GenerationError) in try device.activeGeneration() }
        let state = try onDisk { () throws(GenerationError) in try device.trustState() }
        var status = DeviceStatus(
            directory: device.path,
            generation: generation?.number,
            isFallback: generation?.place.isFallback ?? false,
            created: generation?.record.created.description,
            models: [],
            freshness: .unknown,
            checked: state?.checked.description,
            freshUntil: state?.freshUntil.description,
            graceUntil: state?.graceUntil.description,
            log: "not checked"
        )
        if let state {
            status.refusesAfterGrace = state.afterGrace == .refuse
            let time = max(now, state.clockFloor ?? now)
            status.clockFault = state.fault(ofClock: now)
            // By such a clock nobody can tell, unless what was signed is later than the end already.
            let isTold = status.clockFault == nil || !state.isFresh(at: time)
            let told: DeviceStatus.Freshness =
                state.isFresh(at: time) ? .fresh : state.isWithinGrace(at: time) ? .stale : .overdue
            if isTold { status.freshness = told }
        }
        let (trials, pins, checked) = try onDisk { () throws(GenerationError) in
            (
                try device.note(Trials.self), try device.note(Pins.self),
                try device.note(CheckedVersions.self)
            )
        }
        // What an active fallback says of the versions that were left is among them.
        let quarantined = (try? quarantine()) ?? []
        // Only a note: a status without it is one all the same.
        let decisions = (try? Decisions.load(from: device))?.models ?? []
        for model in generation?.record.models ?? [] {
            var described = describe(model, state, at: now)
            if let generation, let entry = trials[model.identity.manifest], entry.bounds != nil {
                let hasWayBack = device.hasWayBack(from: generation, of: model.identity.model)
                described.trial = entry.state.rawValue
                described.trialProgress = progress(entry, state, hasWayBack: hasWayBack, at: now)
            }
            described.checks = checked[model.identity]?.outcome
            described.quarantined = quarantined.filter { $0.model == described.model }
            if let decision = decisions.first(where: { $0.model == described.model }) {
                if decision.active != described.version {
                    described.reason = (try? updated(decision))?.reason ?? described.reason
                } else if decision.outcome == .failed {
                    described.waiting = decision.reason
                    described.waitingCode = decision.code
                } else if decision.outcome == .unfit {
                    described.unfit = decision.reason
                }
            }
            described.pinned = pins.versions[model.identity.model]?.description
            status.models.append(described)
        }
        status.missing = missing(wanted, decisions, generation?.record)
        return status
    }

    /// What is wanted and is not active, each with the reason of the last sync.
    private func missing(
        _ wanted: [WantedModel],
        _ decisions: [ModelDecision],
        _ active: GenerationRecord?
    ) -> [DeviceStatus.Missing] {
        let requests =
            wanted.isEmpty
            ? decisions.map { (model: $0.model, request: $0.request) }
            : wanted.map { (model: $0.model, request: $0.description) }
        let there = Set((active?.models ?? []).map { "\($0.identity.model)" })
        return requests.filter { !there.contains($0.model) }.sorted { $0.model < $1.model }.map { request in
            guard let decision = decisions.first(where: { $0.request == request.request }) else {
                return DeviceStatus.Missing(
                    model: request.model,
                    request: request.request,
                    reason: "no sync came to a decision about it yet",
                    remedy: "`sealift sync`, with this model among those asked for",
                    code: ErrorCode.nothingActive.rawValue
                )
            }
            let now = (try? updated(decision)) ?? decision
            let code = now.code.flatMap { ErrorCode(rawValue: $0) } ?? .nothingActive
            return DeviceStatus.Missing(
                model: request.model,
                request: request.request,
                reason: now.reason,
                remedy: code == .nothingUsable ? Self.noneRemedy(now) : code.remedy,
                code: code.rawValue
            )
        }
    }

    private static func noneRemedy(_ decision: ModelDecision) -> String {
        decision.passedOver.isEmpty
            ? "Compare name and channel with `sealift list`; it comes with the sync after its publisher puts a version "
                + "into use."
            : ErrorCode.nothingUsable.remedy
    }

    private func progress(
        _ entry: Trials.Entry,
        _ state: TrustState?,
        hasWayBack: Bool,
        at now: UnixTime
    ) -> DeviceStatus.TrialProgress? {
        guard entry.state == .trial, let bounds = entry.bounds else { return nil }
        let end = entry.since.adding(seconds: bounds.seconds)
        let time = state.map { $0.believed(now) } ?? now
        return DeviceStatus.TrialProgress(
            starts: min(entry.starts, bounds.starts),
            startsAllowed: bounds.starts,
            until: end.description,
            secondsLeft: time.map { max(0, end.seconds(since: $0)) },
            hasWayBack: hasWayBack
        )
    }

    private func describe(
        _ model: GenerationRecord.Model,
        _ state: TrustState?,
        at now: UnixTime
    ) -> DeviceStatus.Model {
        let identity = model.identity
        let directory = "\(device.path)/\(identity.relativePath)"
        var problem: String?
        do throws(GenerationError) { _ = try device.activeModel(identity.model) } catch {
            problem = error.description
        }
        if problem == nil { problem = state?.obstacle(to: identity.manifest, at: now) }
        if problem == nil, let entry = (try? device.note(Quarantine.self))?[identity.manifest] {
            problem =
                "it is quarantined since \(entry.time), so that `ModelLibrary` does not load it: \(entry.reason)"
        }
        return DeviceStatus.Model(
            model: identity.model.description,
            version: identity.version.description,
            variant: identity.variant.description,
            channel: model.channel?.description,
            manifest: identity.manifest.hex,
            directory: directory,
            entry: "\(directory)/\(model.entry)",
            reason: model.reason,
            problem: problem
        )
    }
}
