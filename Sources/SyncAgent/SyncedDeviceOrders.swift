import Generations
import Manifest
import Names
import Transfer
import Trust

/// What an operator orders: to go back, and to stay.
extension SyncedDevice {
    /// A version that was left.
    public struct Left: Sendable, Equatable {
        /// The model, `NAMESPACE/MODEL`.
        public var model: String

        /// The version that was left.
        public var version: String

        /// The version that is active now; `nil` when none is.
        public var active: String?

        /// Why, in one line.
        public var reason: String
    }

    /// Goes back from the active generation to the versions before it, and takes none of them again.
    ///
    /// - Parameter reason: For everybody who asks later.
    /// - Returns: The versions that were left, each with what is active now.
    /// - Throws: `SyncError` of kind `refused` when there is nothing to go back to.
    @discardableResult
    public func rollback(reason: String) throws(SyncError) -> [Left] {
        let now = clock()
        return try onDisk { () throws(GenerationError) in
            guard let active = try device.activeGeneration() else {
                throw .nothingActive(directory: device.path)
            }
            let models = device.fallback(of: active)?.record.models ?? []
            let names = Set(models.map(\.identity.model))
            let left = active.record.models.filter { model in
                !models.contains { $0.identity == model.identity }
            }
            guard active.place.isFallback || left.contains(where: { names.contains($0.identity.model) })
            else {
                throw .unfit(reason: try noWayBack(from: active))
            }
            try device.fallBack(from: active)
            // Without any room for the note, being on the fallback says the same until the next sync.
            do throws(GenerationError) {
                try device.withRoomForNotes { () throws(GenerationError) in
                    try device.changeQuarantine { quarantine in
                        for model in left {
                            let reason = "rolled back: \(reason)"
                            quarantine.add(Quarantine.Entry(model.identity, reason: reason, time: now))
                        }
                        quarantine.settled = active.number
                    }
                }
            } catch {
                guard case .disk = error else { throw error }
            }
            return left.map { model in
                let name = model.identity.model
                return Left(
                    model: name.description,
                    version: model.identity.version.description,
                    active: models.first { $0.identity.model == name }?.identity.version.description,
                    reason: reason
                )
            }
        }
    }

    /// Why there is nothing to go back to, and what can be done instead.
    private func noWayBack(from active: ActiveGeneration) throws(GenerationError) -> String {
        let unwanted = Set(try device.note(Quarantine.self).entries.map(\.manifest))
            .union(try device.trustState()?.recalled ?? [])
        let known = try device.versionsKnown().map(\.identity)
        for model in active.record.models.map(\.identity) {
            let earlier = known.filter { $0.model == model.model && $0.manifest != model.manifest }
            let version = earlier.filter { !unwanted.contains($0.manifest) }.map(\.version).max()
            if let version {
                return
                    "no good version stands behind \(model.model) \(model.version): \(version) ran here before and was "
                    + "never confirmed by its app, or it has been replaced since. ‘sealift pin \(model.model) \(version)’ "
                    + "and a ‘sealift sync’ bring it back"
            }
            if let version = earlier.map(\.version).max() {
                return
                    "no good version stands behind \(model.model) \(model.version): \(version) ran here before and is "
                    + "recalled, denied or quarantined; ‘sealift quarantine list’ shows the last of these"
            }
        }
        return
            "generation \(active.number) changed no model that ran in another version before; there is nothing to "
            + "roll back to"
    }

    /// What is known of a version that was pinned.
    public enum Pinned: Sendable, Equatable {
        /// It is on the device, or released.
        case known

        /// Nothing on this device says whether there is such a version, as before the first sync.
        case untold

        /// It is lower than the active version and never ran here, so that a sync takes it only when that is signed.
        case lower(active: String)
    }

    /// Keeps `model` at `version` from the next sync on.
    ///
    /// Recalls, denials, floors and the quarantine go before a pin.
    ///
    /// - Returns: Whether there is such a version, as far as this device knows.
    /// - Throws: `SyncError` of kind `usage` when the signed metadata on this device says that there is none.
    @discardableResult
    public func pin(_ model: String, to version: String) throws(SyncError) -> Pinned {
        let name = try Self.name(model)
        guard let version = ModelVersion(version) else {
            throw SyncError(.usage, "\"\(version)\" is not a version such as 1.4.0")
        }
        let installed = try onDisk { () throws(GenerationError) in try device.versionsKnown() }
            .map(\.identity).filter { $0.model == name }.map(\.version)
        let released = released(name)
        let known = Set(installed).union(released ?? [])
        guard known.contains(version) || released == nil else {
            let versions = known.sorted(by: >).prefix(8).map(\.description).joined(separator: ", ")
            throw SyncError(
                .usage,
                "there is no version \(version) of \(name), as far as the last sync knows; known: "
                    + "\(versions.isEmpty ? "none" : versions). If it was released since, sync first"
            )
        }
        try onDisk { () throws(GenerationError) in
            var pins = try device.note(Pins.self)
            pins.versions[name] = version
            try device.save(pins)
        }
        let active = try onDisk { () throws(GenerationError) in try device.activeGeneration() }?.record.model(
            name
        )
        if let active, version < active.identity.version, !installed.contains(version) {
            return .lower(active: active.identity.version.description)
        }
        return known.contains(version) ? .known : .untold
    }

    /// The versions that the verified metadata on this device lists; `nil` when it tells nothing of the model.
    private func released(_ model: ModelName) -> [ModelVersion]? {
        let store = FolderMetadataStore(directory: device.trustPath)
        let clock = TrustClock(policy: .sealift, local: clock())
        guard let anchor = try? anchor(nil, store),
            let roles = try? StoredRoles(anchor: anchor, store: store, clock: clock)
        else { return nil }
        return try? roles.versions(of: model)
    }

    /// Lets `model` move again.
    ///
    /// - Returns: The version that it was kept at; `nil` when it was not.
    @discardableResult
    public func unpin(_ model: String) throws(SyncError) -> String? {
        let name = try Self.name(model)
        return try onDisk { () throws(GenerationError) in
            var pins = try device.note(Pins.self)
            let version = pins.versions.removeValue(forKey: name)
            try device.save(pins)
            return version?.description
        }
    }
}
