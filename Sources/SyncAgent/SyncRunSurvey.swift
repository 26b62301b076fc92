import Generations
import Manifest
import Names
import Trust

/// What a sync knows of the whole device before it decides.
struct DeviceSurvey {
    /// In the order of the requests.
    var models: [Survey]
    let unasked: [Unasked]

    /// Whether all that says what must not run could be read.
    var isWhole: Bool { models.allSatisfy(\.isWhole) }

    /// The manifests that must not run.
    var withdrawn: [Digest] {
        models.flatMap(\.withdrawn)
            + unasked.filter(\.isWithdrawn).map(\.model.identity.manifest)
    }

    /// Whether something that is active must be left.
    var hasToLeave: Bool {
        models.contains { $0.plan.recall != nil } || unasked.contains(where: \.isWithdrawn)
    }
}

/// The part of a sync that looks at what is signed about each model.
extension SyncRun {
    func planning(
        _ device: DeviceDirectory,
        _ active: GenerationRecord?,
        _ local: LocalNotes,
        _ known: [GenerationRecord.Model],
        _ secret: [UInt8]?
    ) -> Planning {
        let ran = Set(known.map(\.identity.manifest))
        var machine = Machine.current
        machine.runtimes = configuration.runtimes.map(\.limits)
        return Planning(
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
            explain: { error, subject in
                // A generation that is read again is the same.
                explain(error, subject, device, active)
            }
        )
    }

    /// Learns of every model what must be left, before anything else is asked for.
    func survey(
        _ planning: Planning,
        _ active: GenerationRecord?,
        _ chain: inout RegistryChain
    ) async -> DeviceSurvey {
        var models: [Survey] = []
        for request in requests {
            models.append(await planning.begin(request, active: active?.model(request.name), &chain))
        }
        let wanted = Set(requests.map(\.name))
        let recalled = Set((try? planning.device.trustState())?.recalled ?? [])
        var unasked: [Unasked] = []
        for model in active?.models ?? [] where !wanted.contains(model.identity.model) {
            let identity = model.identity
            var isWithdrawn = recalled.contains(identity.manifest)
            let roles = (try? await chain.roles(of: identity.model)).flatMap { $0 }
            if let roles, let signed = try? await chain.withdrawals(of: identity.model, roles) {
                isWithdrawn = isWithdrawn || signed.withdrawal(of: identity.version, identity.manifest) != nil
            }
            isWithdrawn = isWithdrawn || chain.denial(of: identity) != nil
            unasked.append(Unasked(model: model, isWithdrawn: isWithdrawn))
        }
        return DeviceSurvey(models: models, unasked: unasked)
    }

    /// What no switch may bring, nor a way back keep.
    func forbidden(
        _ survey: DeviceSurvey,
        _ ledger: DenialLedger,
        _ active: ActiveGeneration?,
        _ local: LocalNotes,
        _ device: DeviceDirectory
    ) -> Set<Digest> {
        // What could not be read this time may not be gone back to again.
        let old = survey.isWhole ? [] : (try? device.trustState())?.recalled ?? []
        return denied(by: ledger, active, device)
            .union(survey.withdrawn + old)
            .union(local.quarantine.entries.map(\.manifest))
            .union(survey.models.compactMap(\.plan.forgery))
    }
}
