import Durable
import Generations
import Manifest
import Names

/// The part of a sync that leaves versions: trials that were lost, and what was recalled.
extension SyncRun {
    /// Goes back from a generation with a version whose trial was lost.
    ///
    /// - Returns: What is active then.
    func settleTrials(
        _ active: ActiveGeneration?,
        _ device: DeviceDirectory
    ) throws(SyncError) -> ActiveGeneration? {
        guard mode == .activate, let active, !active.place.isFallback else { return active }
        let now = (try? device.trustState())?.believed(clock)
        return try onDisk { () throws(GenerationError) in
            let trials = try device.note(Trials.self)
            let isLost = active.record.models.contains { model in
                trials.failure(of: model.identity.manifest, at: now) != nil
                    && device.hasWayBack(from: active, of: model.identity.model)
            }
            guard isLost else { return active }
            do throws(GenerationError) { return try device.fallBack(from: active) } catch {
                // Without a whole way back a newer version is the way out, and this sync may bring it.
                guard case .unfit = error else { throw error }
                return active
            }
        }
    }

    /// What is not taken again, with what the active fallback says about the generation it belongs to.
    func quarantine(
        _ active: ActiveGeneration?,
        _ device: DeviceDirectory
    ) throws(SyncError) -> Quarantine {
        let now = (try? device.trustState())?.believed(clock)
        return try onDisk { () throws(GenerationError) in
            try device.quarantine(active, at: now, noted: clock)
        }
    }

    /// Notes the same on the device.
    ///
    /// - Returns: Warnings.
    func settleQuarantine(
        _ active: ActiveGeneration?,
        _ device: DeviceDirectory
    ) throws(SyncError) -> [String] {
        let now = (try? device.trustState())?.believed(clock)
        return try noting { () throws(GenerationError) in
            try device.settleQuarantine(active, at: now, noted: clock)
        }
    }

    /// Leaves what is recalled or denied, before anything is fetched: for the plan if it is here already, else for
    /// another good version that is, else for none.
    ///
    /// - Returns: What is active then.
    func leaveRecalled(
        _ plans: [ModelPlan],
        _ active: ActiveGeneration?,
        _ forbidden: Set<Digest>,
        _ device: DeviceDirectory
    ) async throws(SyncError) -> ActiveGeneration? {
        guard let active else { return nil }
        var replacements: [ModelName: GenerationRecord.Model?] = [:]
        for plan in plans where plan.recall != nil {
            guard let model = plan.active?.identity.model else { continue }
            let isHere = plan.installation == nil && !awaitsChecks(plan, device)
            replacements.updateValue(isHere ? plan.record : plan.refuge, forKey: model)
        }
        return try await leave(active, replacements, forbidden, device)
    }

    /// Whether the planned version is here and never ran, as after a sync that was ended while it was tried.
    private func awaitsChecks(_ plan: ModelPlan, _ device: DeviceDirectory) -> Bool {
        guard configuration.checks != nil, let identity = plan.record?.identity,
            (try? device.manifest(of: identity).checks.isEmpty) == false,
            let checked = try? device.note(CheckedVersions.self), !checked.isDone(identity)
        else { return false }
        let known = (try? device.versionsKnown()) ?? []
        return !known.contains { $0.identity == identity }
    }

    /// Leaves what is denied, or was recalled before, where the chain cannot be used.
    func leaveKnown(
        _ ledger: DenialLedger,
        _ active: ActiveGeneration?,
        _ device: DeviceDirectory
    ) async throws(SyncError) {
        guard mode == .activate, let active else { return }
        let recalled = Set((try? device.trustState())?.recalled ?? [])
        let forbidden = recalled.union(denied(by: ledger, active, device))
        let good = (device.fallback(of: active)?.record.models ?? []).filter { model in
            !forbidden.contains(model.identity.manifest)
        }
        var replacements: [ModelName: GenerationRecord.Model?] = [:]
        for model in active.record.models where forbidden.contains(model.identity.manifest) {
            let last = good.first { $0.identity.model == model.identity.model }
            replacements.updateValue(last, forKey: model.identity.model)
        }
        let next = try await leave(active, replacements, forbidden, device)
        try await purge(next, forbidden, device)
    }

    /// The manifests that are denied, of what is active and of what can be gone back to.
    func denied(
        by ledger: DenialLedger,
        _ active: ActiveGeneration?,
        _ device: DeviceDirectory
    ) -> Set<Digest> {
        guard let active else { return [] }
        let models = active.record.models + (device.fallback(of: active)?.record.models ?? [])
        return Set(models.map(\.identity).filter { ledger.denial(of: $0) != nil }.map(\.manifest))
    }

    /// Within what apps have to confirm new versions of their models.
    func trialBounds(where isOnTrial: (ModelName) -> Bool = { _ in true }) -> [ModelName: TrialBounds] {
        var bounds: [ModelName: TrialBounds] = [:]
        for request in configuration.models where isOnTrial(request.name) {
            bounds[request.name] = request.trialBounds
        }
        return bounds
    }

    private func leave(
        _ active: ActiveGeneration,
        _ replacements: [ModelName: GenerationRecord.Model?],
        _ forbidden: Set<Digest>,
        _ device: DeviceDirectory
    ) async throws(SyncError) -> ActiveGeneration {
        guard !replacements.isEmpty else { return active }
        events(.phase(.activating))
        let models = active.record.models.compactMap { model in
            replacements[model.identity.model] ?? model
        }
        let left = active.record.models.filter { replacements[$0.identity.model] != nil }
        let unwanted = forbidden.union(left.map(\.identity.manifest))
        // What was good on this device before is no trial: who lost that would be left with nothing.
        let good = Set((device.fallback(of: active)?.record.models ?? []).map(\.identity))
        let bounds = trialBounds { name in
            !models.contains { $0.identity.model == name && good.contains($0.identity) }
        }
        let now = clock
        return try await onDiskThread { () throws(GenerationError) in
            try device.leave(
                for: models,
                from: active,
                at: now,
                forbidden: { unwanted.contains($0) },
                bounds: { bounds[$0] }
            )
        }
    }
}
