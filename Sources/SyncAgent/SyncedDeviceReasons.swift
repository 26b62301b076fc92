import Generations
import Names

/// Why a device has what it has.
extension SyncedDevice {
    /// The last decision about `model`, with the versions that were passed over, and what this device did since.
    ///
    /// - Returns: The decision of the last sync; where its version was left after that, what was left and why.
    /// - Throws: `SyncError` of kind `refused` when no sync ever decided about it.
    public func why(_ model: String) throws(SyncError) -> ModelDecision {
        let decisions = try Decisions.load(from: device)?.models ?? []
        guard let decision = decisions.first(where: { $0.model.utf8.elementsEqual(model.utf8) }) else {
            let known = decisions.map(\.model).joined(separator: ", ")
            throw SyncError(
                .refused,
                "no sync of \(device.path) decided about \(model); decided about: \(known.isEmpty ? "none" : known)"
            )
        }
        return try updated(decision)
    }

    /// The decision as it stands: a device leaves versions also without a sync.
    func updated(_ decision: ModelDecision) throws(SyncError) -> ModelDecision {
        guard let name = ModelName(decision.model) else { return decision }
        return try onDisk { () throws(GenerationError) in
            guard let active = try device.activeGeneration() else { return decision }
            let model = active.record.model(name)
            let version = model?.identity.version.description
            guard let left = decision.active, left != version else { return decision }
            let noted = try departure(of: name, left, active)
            let reason = noted ?? model?.reason ?? "it was left on this device"
            var updated = decision
            updated.previous = left
            updated.active = version
            if version == nil { updated.outcome = ModelDecision.Outcome.none }
            updated.reason = "\(left) was left since the last sync: \(reason)"
            updated.passedOver.removeAll { $0.version == left }
            updated.passedOver.insert(PassedVersion(version: left, reasons: [reason]), at: 0)
            return updated
        }
    }

    /// What is noted of a version that was left, or else of those that it was left together with.
    private func departure(
        of name: ModelName,
        _ version: String,
        _ active: ActiveGeneration
    ) throws(GenerationError) -> String? {
        let now = try device.trustState()?.believed(clock())
        let entries = try device.quarantine(active, at: now, noted: clock()).entries
        let own = entries.last { $0.model == name && $0.version.description == version }
        if let own { return own.reason }
        guard active.place.isFallback else { return nil }
        let left = Set(device.versionsLeft(active).map(\.identity.manifest))
        guard let other = entries.last(where: { left.contains($0.manifest) }) else { return nil }
        return "it went together with \(other.model) \(other.version), which was left: \(other.reason)"
    }
}
