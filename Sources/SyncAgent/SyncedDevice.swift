import Blocking
import Durable
import Generations
package import Names

/// A device directory as its operator sees it; needs no network, no lock and no configuration.
public struct SyncedDevice: Sendable {
    let device: DeviceDirectory
    let clock: @Sendable () -> UnixTime

    /// Opens the directory.
    ///
    /// - Throws: `SyncError` of kind `usage` when there is none.
    public init(directory: String) throws(SyncError) {
        try self.init(directory: directory, clock: { MachineClock.now })
    }

    /// Opens the directory with a clock of its own, for tests.
    package init(directory: String, clock: @escaping @Sendable () -> UnixTime) throws(SyncError) {
        self.clock = clock
        device = try onDisk { () throws(GenerationError) in
            let device = try DeviceDirectory.open(directory)
            // Any other folder would look like a device on which nothing is active.
            let parts = [device.currentPath, device.generationsPath]
            guard parts.contains(where: { (try? Durable.kind(of: $0)).flatMap { $0 } != nil }) else {
                throw .missing(path: directory)
            }
            return device
        }
    }

    /// What is active, and how current it is now.
    ///
    /// - Returns: The state; what is wrong with a model is said there, not thrown.
    /// - Throws: `SyncError` when the active generation cannot be read at all.
    public func status() throws(SyncError) -> DeviceStatus { try status(at: clock()) }

    /// What is active, and how current it is at `now`.
    package func status(at now: UnixTime) throws(SyncError) -> DeviceStatus {
        let generation = try onDisk { () throws(GenerationError) in try device.activeGeneration() }
        let state = try onDisk { () throws(GenerationError) in try device.trustState() }
        var status = DeviceStatus(
            directory: device.path,
            generation: generation?.number,
            isFallback: generation?.place.isFallback ?? false,
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
        let (trials, pins, checked) = try onDisk { () throws(GenerationError) in
            (
                try device.note(Trials.self), try device.note(Pins.self),
                try device.note(CheckedVersions.self)
            )
        }
        // What an active fallback says of the versions that were left is among them.
        let quarantined = (try? quarantine()) ?? []
        // Only a note: a status without it is one all the same.
        let decisions = (try? Decisions.load(from: device))?.models ?? []
        for model in generation?.record.models ?? [] {
            var described = describe(model, state, at: now)
            described.trial = (trials[model.identity.manifest]?.state ?? .confirmed).rawValue
            described.checks = checked[model.identity]?.outcome
            described.quarantined = quarantined.filter { $0.model == described.model }
            if let decision = decisions.first(where: { $0.model == described.model }) {
                if decision.active != described.version {
                    described.reason = (try? updated(decision))?.reason ?? described.reason
                } else if decision.outcome == .unfit {
                    described.unfit = decision.reason
                }
            }
            described.pinned = pins.versions[model.identity.model]?.description
            status.models.append(described)
        }
        return status
    }

    /// What a collection removed, or would.
    public struct Collected: Sendable, Equatable {
        /// Paths from the device directory.
        public var removed: [String]

        /// What stays because a program uses it.
        public var leased: [String]

        /// The bytes that were in what is removed.
        public var bytes: UInt64
    }

    /// Deletes what nothing needs any more.
    ///
    /// - Parameters:
    ///   - mode: `.dryRun` deletes nothing.
    ///   - retain: Seconds that versions stay after they were left.
    /// - Returns: What was deleted, or would be.
    /// - Throws: `SyncError` of kind `temporary` while a sync of the directory runs: what it puts in place belongs to
    ///   no generation yet.
    public func collect(
        _ mode: SyncMode = .activate,
        retain: Int64 = 86_400
    ) async throws(SyncError) -> Collected {
        let (device, now) = (device, clock())
        return try await onDiskThread { () throws(GenerationError) in
            var lock: DirectoryLock?
            do throws(DurableError) { lock = try DirectoryLock(device.lockPath) } catch {
                throw .disk(error)
            }
            defer { withExtendedLifetime(lock) {} }
            // Parts of downloads that a later sync may finish stay.
            let keep: (String) -> Bool = { _ in true }
            let plan = try device.collect(now: now, retain: retain, isWanted: keep, mode: .report)
            let bytes = plan.removed.reduce(UInt64(0)) { $0 + device.length(of: $1) }
            guard mode == .activate else {
                return Collected(removed: plan.removed, leased: plan.leased, bytes: bytes)
            }
            let report = try device.collect(now: now, retain: retain, isWanted: keep)
            return Collected(removed: report.removed, leased: report.leased, bytes: bytes)
        }
    }

    private func describe(
        _ model: GenerationRecord.Model,
        _ state: TrustState?,
        at now: UnixTime
    ) -> DeviceStatus.Model {
        let identity = model.identity
        let directory = "\(device.path)/\(identity.relativePath)"
        var problem: String?
        do throws(GenerationError) { _ = try device.activeModel(identity.model) } catch {
            problem = error.description
        }
        if problem == nil { problem = state?.obstacle(to: identity.manifest, at: now) }
        if problem == nil, let entry = (try? device.note(Quarantine.self))?[identity.manifest] {
            problem =
                "it is quarantined since \(entry.time), so that `ModelLibrary` does not load it: \(entry.reason)"
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
            trial: Trials.Entry.State.confirmed.rawValue,
            problem: problem
        )
    }
}
