import Generations
import Manifest
import Names
import Trust

/// Where to go at once from a version that must be left.
extension Planning {
    /// The candidates that are on the device, whole and of use, the best first.
    func refuges(
        _ candidates: Candidates,
        _ request: WantedModel,
        _ active: GenerationRecord.Model?
    ) -> [GenerationRecord.Model] {
        // Where nobody can say what the app needs, it lived with what this device ran or made ready before.
        let expectation = (try? request.parsedExpectation()).flatMap { $0 }
        let running = runningFormat(active)
        return candidates.ordered.compactMap { candidate in
            let model = known.first { model in
                model.identity.model == request.name && model.identity.manifest == candidate.manifest
                    && isOfUse(model.identity, request, expectation, running)
            }
            guard let model else { return nil }
            var channel: ChannelName?
            if case .channel(let name) = request.selection { channel = name }
            return GenerationRecord.Model(
                identity: model.identity,
                entry: model.entry,
                channel: channel,
                reason: candidate.reason
            )
        }
    }

    private func isOfUse(
        _ identity: VersionIdentity,
        _ request: WantedModel,
        _ expectation: Expectation?,
        _ running: ModelFormat?
    ) -> Bool {
        guard (try? device.isInstalled(identity)) == true, let manifest = try? device.manifest(of: identity)
        else { return false }
        let usability = Usability(
            manifest,
            expectation: expectation,
            wanted: request.variant ?? identity.variant,
            on: machine,
            running: running
        )
        guard case .usable(let content, _) = usability else { return false }
        return content.name == identity.variant
    }

    /// The same by what the device keeps of the chain, where that cannot be had anew.
    ///
    /// Where not even that is there, what the device would fall back to.
    ///
    /// - Parameters:
    ///   - active: The version that must be left.
    ///   - request: What is asked for of its model; `nil` where nothing is any more.
    ///   - wayBack: What the device would fall back to.
    ///   - roles: What is stored.
    ///   - denials: That concern the model.
    ///   - withdrawn: What must not run, as far as this device knows.
    /// - Returns: The best first.
    func storedRefuges(
        from active: GenerationRecord.Model,
        _ request: WantedModel?,
        _ wayBack: [GenerationRecord.Model],
        _ roles: StoredRoles?,
        _ denials: [Denial],
        withdrawn: Set<Digest>
    ) -> [GenerationRecord.Model] {
        let name = active.identity.model
        if let request, var signed = roles?.chain(of: name, denials: denials) {
            signed.withdrawn = withdrawn.union([active.identity.manifest])
            let candidates = Candidates(request, in: signed, rules(request), active: active.identity)
            return refuges(candidates, request, active)
        }
        return wayBack.filter { model in
            model.identity.model == name && !(request?.floor.map { model.identity.version < $0 } ?? false)
        }
    }
}
