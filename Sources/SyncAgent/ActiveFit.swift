import Generations
import Manifest
import Names

/// An active version that an app or a runtime has left behind.
extension Planning {
    /// Whether the active version, which stays, still fits what is asked of it.
    ///
    /// A device does not go back by itself because an app or a runtime is
    /// another: only a signature says so, or its operator. So it says which
    /// version would fit, and how to get it.
    ///
    /// - Returns: What to say; `nil` when it fits, or what it takes is not known here.
    func unfit(
        _ request: WantedModel,
        _ expectation: Expectation?,
        _ candidates: Candidates,
        _ plan: inout ModelPlan,
        _ roles: ModelRoles,
        _ chain: inout RegistryChain
    ) async -> String? {
        guard plan.recall == nil, let active = plan.active?.identity,
            let manifest = try? device.manifest(of: active),
            case .unusable(let reasons) = Usability(
                manifest,
                expectation: expectation,
                wanted: request.variant,
                on: machine,
                running: runningFormat(plan.active)
            )
        else { return nil }
        plan.passOver(active.version, .unusable(reasons))
        let head = "\(active.version) is active and does not fit what this device asks of it now"
        for candidate in candidates.lower.prefix(Self.mostLowerVersions) {
            // Advice alone: what cannot be had is no reason to fail.
            guard let bytes = try? await self.manifest(candidate, request, roles, &chain),
                let lower = try? Self.parsed(bytes, candidate, request)
            else { continue }
            let usability = Usability(
                lower,
                expectation: expectation,
                wanted: request.variant,
                on: machine,
                running: runningFormat(plan.active)
            )
            guard case .usable = usability else { continue }
            let channel = if case .channel(let name) = request.selection { "\(name)" } else { "CHANNEL" }
            let hasRun = rules(request).hasRun(candidate.manifest)
            let way =
                hasRun
                ? "which this device ran before: ‘sealift pin \(request.model) \(candidate.version)’ brings it back"
                : "and a device goes back to what it never ran only when that is signed: ‘sealift channel set "
                    + "\(request.model) \(channel) \(candidate.version) --reason TEXT’"
            return "\(head); \(candidate.version) would, \(way)"
        }
        return "\(head), and no other version that may be taken does; ask its publisher for one that does"
    }

    /// What a runtime here has to load now; `nil` when nothing is active, or nobody can read what.
    func runningFormat(_ active: GenerationRecord.Model?) -> ModelFormat? {
        guard let active = active?.identity else { return nil }
        return (try? device.manifest(of: active))?[active.variant]?.format
    }

    /// So many versions below the active one are looked at, for advice alone.
    private static let mostLowerVersions = 16
}
