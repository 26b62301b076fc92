import Names

/// What a device goes back to, and what it then does not take again.
///
/// The fallback of a generation holds each model whose version is new in it, or
/// still on trial, at its last good version, or not at all where there is none;
/// every other model as the generation has it. A version is good when it was
/// confirmed, and is neither recalled, denied nor quarantined.
enum FallbackRule {
    typealias Model = GenerationRecord.Model

    /// The fallback of the generation `next`.
    ///
    /// - Parameters:
    ///   - next: What the new generation holds.
    ///   - active: What is active before it.
    ///   - earlier: The fallback of what is active.
    ///   - trials: Which versions are confirmed.
    ///   - forbidden: What may not be gone back to.
    /// - Returns: The models to go back to.
    static func models(
        of next: [Model],
        over active: [Model],
        fallback earlier: [Model],
        trials: Trials,
        forbidden: (Digest) -> Bool
    ) -> [Model] {
        func isGood(_ model: Model) -> Bool {
            trials.isConfirmed(model.identity.manifest) && !forbidden(model.identity.manifest)
        }
        return next.compactMap { model in
            let old = active.first { $0.identity.model == model.identity.model }
            let older = earlier.first { $0.identity.model == model.identity.model }
            // Unchanged and confirmed: it is not what could fail.
            if old?.identity == model.identity, isGood(model) { return model }
            return [old, older].compactMap { $0 }.first { $0.identity != model.identity && isGood($0) }
        }
    }

    /// What a device on the fallback left: each version that the generation has and its fallback has not.
    static func left(_ generation: [Model], for fallback: [Model]) -> [Model] {
        let kept = Set(fallback.map(\.identity))
        return generation.filter { !kept.contains($0.identity) }
    }

    /// Which of the versions that were left are to blame, and why.
    ///
    /// Those whose trial was lost. Where no trial was, as after the operator's
    /// own rollback, all of them.
    static func failed(
        among left: [Model],
        _ trials: Trials,
        at now: UnixTime?
    ) -> [(model: Model, reason: String)] {
        let lost = left.compactMap { model -> (model: Model, reason: String)? in
            trials.failure(of: model.identity.manifest, at: now).map { (model, $0) }
        }
        return lost.isEmpty ? left.map { ($0, "this device went back from it") } : lost
    }
}
