import Durable
import Generations
import Manifest
import Names

/// The part of a sync that leaves versions whose trials were lost.
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
}
