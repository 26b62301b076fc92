import Generations
import Names
import Transfer
import Trust

/// What a sync knows of one model before it decides, in the order in which it learns it.
///
/// First what must be left, which waits for nothing else; then what may be
/// taken; and at last the manifests of that, which anybody may keep back.
struct Survey {
    let request: WantedModel
    var plan: ModelPlan

    /// The manifests that must not run.
    var withdrawn: [Digest] = []

    /// Whether all could be read that says so.
    var isWhole = true
    var roles: ModelRoles?
    var signed: ModelChain?
    var candidates: Candidates?

    /// What is on the device and can take the place of an active version that must be left, the best first.
    ///
    /// `nil` until that was looked for.
    var refuges: [GenerationRecord.Model]?

    /// Whether nothing more is to be learned.
    private(set) var isOver = false

    init(_ request: WantedModel, _ plan: ModelPlan) {
        self.request = request
        self.plan = plan
    }

    mutating func fail(_ error: SyncError) {
        isOver = true
        plan.fail(error)
    }

    mutating func takeNone(isUnknown: Bool = false, explanation: String) {
        isOver = true
        plan.takeNone(hasUnusable: false, isUnknown: isUnknown, explanation: explanation)
    }
}

/// A version that is active and that nobody asks for any more.
struct Unasked {
    let model: GenerationRecord.Model

    /// Whether it must be left.
    let isWithdrawn: Bool
}

extension Planning {
    /// Learns what must be left; waits for nothing that only brings new versions.
    func begin(
        _ request: WantedModel,
        active: GenerationRecord.Model?,
        _ chain: inout RegistryChain
    ) async -> Survey {
        var survey = Survey(request, ModelPlan(request, active: active))
        do throws(SyncError) { try await begin(&survey, &chain) } catch {
            survey.isWhole = false
            deny(&survey, chain.ledger)
            survey.fail(error)
        }
        return survey
    }

    /// A denial counts, also where the roles below it cannot be had.
    func deny(_ survey: inout Survey, _ ledger: DenialLedger) {
        guard survey.plan.recall == nil, let active = survey.plan.active,
            let denial = ledger.denial(of: active.identity)
        else { return }
        survey.plan.recall = Obstacle.denied(denial).description
        survey.withdrawn.append(active.identity.manifest)
    }

    private func begin(_ survey: inout Survey, _ chain: inout RegistryChain) async throws(SyncError) {
        let request = survey.request
        let roles: ModelRoles?
        do throws(UpdateError) { roles = try await chain.roles(of: request.name) } catch {
            throw explain(error, request.model)
        }
        guard let roles else {
            deny(&survey, chain.ledger)
            survey.takeNone(
                explanation: "the registry has no namespace \(request.name.namespace); check the name"
            )
            return
        }
        let signed = try await chain.withdrawals(of: request.name, roles)
        survey.roles = roles
        survey.signed = signed
        let here = ([survey.plan.active].compactMap { $0 } + known).map(\.identity).filter {
            $0.model == request.name && signed.withdrawal(of: $0.version, $0.manifest) != nil
        }
        survey.withdrawn = signed.recalled + here.map(\.manifest)
        survey.plan.recall = survey.plan.active.flatMap {
            signed.withdrawal(of: $0.identity.version, $0.identity.manifest)?.description
        }
    }

    /// Learns what may be taken, and what of it is on the device.
    func weigh(_ survey: inout Survey, _ chain: inout RegistryChain) async {
        guard !survey.isOver, survey.candidates == nil, var roles = survey.roles, var signed = survey.signed
        else { return }
        let request = survey.request
        var failure: SyncError?
        do throws(UpdateError) { roles.release = try await chain.release(of: request.name) } catch {
            failure = explain(error, request.model)
        }
        if failure == nil {
            signed.add(roles.release)
            survey.withdrawn += signed.recalled
        } else {
            // What was released stays so, and what is here was, by a chain that this device verified.
            survey.isWhole = false
            for identity in known.map(\.identity) where identity.model == request.name {
                signed.releases[identity.version] = identity.manifest
            }
        }
        guard roles.live != nil || roles.release != nil || survey.plan.active != nil else {
            return survey.takeNone(
                isUnknown: true,
                explanation:
                    "the registry has no model \(request.model), or nothing of it yet; check the name"
            )
        }
        await chain.addHolds(to: &signed)
        survey.roles = roles
        survey.signed = signed
        let candidates = Candidates(request, in: signed, rules(request), active: survey.plan.active?.identity)
        survey.candidates = candidates
        if failure == nil {
            survey.plan.unmet = candidates.unmet
            survey.plan.passedOver = candidates.passedOver
            survey.plan.forgery = survey.plan.active.flatMap {
                signed.forgery($0.identity) == nil ? nil : $0.identity.manifest
            }
        }
        if survey.plan.recall != nil { survey.refuges = refuges(candidates, request, survey.plan.active) }
        if let failure { survey.fail(failure) }
    }
}
