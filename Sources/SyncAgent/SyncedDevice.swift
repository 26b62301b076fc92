import Durable
import Generations
package import Names

/// A device directory as its operator sees it; needs no network, no lock and no configuration.
public struct SyncedDevice: Sendable {
    private let device: DeviceDirectory

    /// Opens the directory.
    ///
    /// - Throws: `SyncError` of kind `refused` when there is none.
    public init(directory: String) throws(SyncError) {
        device = try onDisk { () throws(GenerationError) in try DeviceDirectory.open(directory) }
    }

    /// What is active, and how current it is now.
    ///
    /// - Returns: The state; what is wrong with a model is said there, not thrown.
    /// - Throws: `SyncError` when the active generation cannot be read at all.
    public func status() throws(SyncError) -> DeviceStatus { try status(at: SyncAgent.systemTime()) }

    /// What is active, and how current it is at `now`.
    package func status(at now: UnixTime) throws(SyncError) -> DeviceStatus {
        let generation = try onDisk { () throws(GenerationError) in try device.activeGeneration() }
        let state = try onDisk { () throws(GenerationError) in try device.trustState() }
        var status = DeviceStatus(
            directory: device.path,
            generation: generation?.number,
            created: generation?.record.created.description,
            models: [],
            freshness: .unknown,
            checked: state?.checked.description,
            freshUntil: state?.freshUntil.description,
            graceUntil: state?.graceUntil.description,
            log: "not checked"
        )
        if let state {
            let time = max(now, state.clockFloor ?? now)
            status.freshness =
                state.isFresh(at: time) ? .fresh : state.isWithinGrace(at: time) ? .stale : .overdue
        }
        for model in generation?.record.models ?? [] {
            status.models.append(describe(model, state))
        }
        return status
    }

    private func describe(_ model: GenerationRecord.Model, _ state: TrustState?) -> DeviceStatus.Model {
        let identity = model.identity
        let directory = "\(device.path)/\(identity.relativePath)"
        var problem: String?
        do throws(GenerationError) { _ = try device.activeModel(identity.model) } catch {
            problem = error.description
        }
        if problem == nil, state?.recalled.contains(identity.manifest) ?? false {
            problem = "recalled; run `sealift sync` to leave it"
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

    /// The last decision about `model`, with the versions that were passed over.
    ///
    /// - Returns: The decision of the last sync.
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
        return decision
    }

    /// Reads every byte of the active generation again and compares it with the signed manifests.
    ///
    /// Blocks for as long as that takes.
    ///
    /// - Returns: The number of bytes read.
    /// - Throws: `SyncError` of kind `refused`, naming the first file that differs.
    public func verify() throws(SyncError) -> UInt64 {
        try onDisk { () throws(GenerationError) in
            guard let generation = try device.activeGeneration() else {
                throw .nothingActive(directory: device.path)
            }
            var read: UInt64 = 0
            for model in generation.record.models {
                read += try generation.model(model.identity.model).verify()
            }
            return read
        }
    }
}
