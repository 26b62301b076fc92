import Durable
import Generations
import Manifest
import Names
import Trust

/// The part of a sync that leaves what is recalled or denied.
extension SyncRun {
    /// Leaves what is recalled or denied for the best that is on the device, else for none.
    ///
    /// It is noted and left before a file, a manifest, or a role that only brings
    /// new versions is asked for: whoever keeps one of those back must not hold
    /// this up. Where not all that says it could be had, it is looked for
    /// elsewhere after that.
    ///
    /// What is active then is in `active`.
    ///
    /// - Returns: Warnings.
    /// - Throws: `SyncError` when something could not be left.
    func leaveRecalled(
        _ survey: inout DeviceSurvey,
        _ planning: Planning,
        _ sources: Sources,
        _ active: inout ActiveGeneration?,
        _ chain: inout RegistryChain,
        _ local: LocalNotes,
        _ device: DeviceDirectory
    ) async throws(SyncError) -> [String] {
        var warnings: [String] = []
        for isSearched in [false, true] {
            if isSearched {
                guard !survey.isWhole, mode == .activate else { break }
                await search(sources, into: &chain.ledger)
                for index in survey.models.indices { planning.deny(&survey.models[index], chain.ledger) }
            }
            guard survey.hasToLeave else { continue }
            if mode == .activate { warnings += note(survey, chain.ledger, on: device) }
            for index in survey.models.indices where survey.models[index].plan.recall != nil {
                await planning.weigh(&survey.models[index], &chain)
                seekRefuge(&survey.models[index], planning, sources, active, chain.ledger, device)
            }
            let forbidden = forbidden(survey, chain.ledger, active, local, device)
            if mode == .activate, let standing = active {
                active = try await leave(standing, ways(survey, standing), forbidden, device)
            }
            for index in survey.models.indices where survey.models[index].plan.recall != nil {
                let refuges = survey.models[index].refuges ?? []
                let name = survey.models[index].request.name
                let taken = mode == .activate ? active?.record.model(name)?.identity : refuges.first?.identity
                survey.models[index].plan.leave(for: refuges.first { $0.identity == taken })
            }
        }
        return warnings
    }

    /// Where to go from a version of which the chain tells nothing but that it must be left.
    private func seekRefuge(
        _ survey: inout Survey,
        _ planning: Planning,
        _ sources: Sources,
        _ active: ActiveGeneration?,
        _ ledger: DenialLedger,
        _ device: DeviceDirectory
    ) {
        guard survey.isOver, survey.refuges == nil, let left = survey.plan.active, let active else { return }
        survey.refuges = planning.storedRefuges(
            from: left,
            survey.request,
            device.fallback(of: active)?.record.models ?? [],
            storedRoles(sources),
            ledger.denials(of: left.identity.model),
            withdrawn: Set((try? device.trustState())?.recalled ?? [])
        )
    }

    /// For each model that has to leave and did not yet, what can take its place.
    private func ways(
        _ survey: DeviceSurvey,
        _ active: ActiveGeneration
    ) -> [ModelName: [GenerationRecord.Model]] {
        var ways: [ModelName: [GenerationRecord.Model]] = [:]
        for model in survey.models where model.plan.recall != nil {
            let name = model.request.name
            guard active.record.model(name)?.identity == model.plan.active?.identity else { continue }
            ways[name] = model.refuges ?? []
        }
        for unasked in survey.unasked where unasked.isWithdrawn {
            let name = unasked.model.identity.model
            if active.record.model(name) != nil { ways[name] = [] }
        }
        return ways
    }

    /// Notes what must not run, for readers that verify nothing; what keeps it from being noted keeps nobody from
    /// leaving.
    private func note(_ survey: DeviceSurvey, _ ledger: DenialLedger, on device: DeviceDirectory) -> [String]
    {
        do throws(SyncError) {
            return try noting { () throws(GenerationError) in
                if let state = try device.trustState() {
                    try device.save(state.withdrawing(survey.withdrawn))
                }
                try ledger.save(on: device)
            }
        } catch {
            // Whatever is wrong there is told by the note of the whole.
            return []
        }
    }

    private func storedRoles(_ sources: Sources) -> StoredRoles? {
        try? StoredRoles(
            anchor: sources.anchor,
            store: sources.store,
            clock: TrustClock(policy: .sealift, local: clock, floor: sources.floor)
        )
    }

    /// Leaves what is denied, or was recalled before, where the chain cannot be used.
    func leaveKnown(
        _ ledger: DenialLedger,
        _ sources: Sources,
        _ active: ActiveGeneration?,
        _ local: LocalNotes,
        _ device: DeviceDirectory
    ) async throws(SyncError) {
        guard mode == .activate, let active else { return }
        let recalled = Set((try? device.trustState())?.recalled ?? [])
        let forbidden = recalled.union(denied(by: ledger, active, device))
            .union(local.quarantine.entries.map(\.manifest))
        let secret = (try? RolloutBucket.storedSecret(of: device)) ?? nil
        let known = (try? device.versionsKnown()) ?? []
        let planning = planning(device, active.record, local, known, secret)
        let wayBack = device.fallback(of: active)?.record.models ?? []
        var ways: [ModelName: [GenerationRecord.Model]] = [:]
        for model in active.record.models {
            let identity = model.identity
            guard recalled.contains(identity.manifest) || ledger.denial(of: identity) != nil else { continue }
            ways[identity.model] = planning.storedRefuges(
                from: model,
                requests.first { $0.name == identity.model },
                wayBack,
                storedRoles(sources),
                ledger.denials(of: identity.model),
                withdrawn: recalled
            )
        }
        let next = try await leave(active, ways, forbidden, device)
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
    func trialBounds() -> [ModelName: TrialBounds] {
        var bounds: [ModelName: TrialBounds] = [:]
        for request in configuration.models {
            bounds[request.name] = request.trialBounds
        }
        return bounds
    }

    private func leave(
        _ active: ActiveGeneration,
        _ ways: [ModelName: [GenerationRecord.Model]],
        _ forbidden: Set<Digest>,
        _ device: DeviceDirectory
    ) async throws(SyncError) -> ActiveGeneration {
        guard !ways.isEmpty else { return active }
        events(.phase(.activating))
        // What was good on this device before is no trial: who lost that would be left with nothing.
        let good = Set((device.fallback(of: active)?.record.models ?? []).map(\.identity))
        let bounds = trialBounds()
        let now = clock
        return try await onDiskThread { () throws(GenerationError) in
            try device.leave(
                for: ways,
                from: active,
                at: now,
                forbidden: forbidden,
                bounds: { good.contains($0.identity) ? nil : bounds[$0.identity.model] }
            )
        }
    }
}
