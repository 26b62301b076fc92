import Durable
import Generations
import Names

/// What an operator and an app say about the versions on a device; needs no network.
extension SyncedDevice {
    /// A version as its operator sees it.
    public struct Version: Sendable, Equatable {
        /// The model, `NAMESPACE/MODEL`.
        public var model: String

        /// The version of it.
        public var version: String

        /// Why, in one line.
        public var reason: String
    }

    /// What an app starts with.
    public struct Started: Sendable, Equatable {
        /// The version of its model.
        public var version: String

        /// Which version was left before that, and why, in one line; `nil` when none was.
        public var left: String? { counted.left }

        let counted: CountedStart
    }

    // MARK: trials

    /// Says that the active version of `model` works: its trial is over.
    ///
    /// - Parameter model: `NAMESPACE/MODEL`.
    /// - Returns: The confirmed version.
    /// - Throws: `SyncError` of kind `usage` when the model is not active.
    @discardableResult
    public func confirm(_ model: String) throws(SyncError) -> Version {
        let active = try activeModel(model)
        do throws(GenerationError) {
            try device.changeTrials { trials in
                trials.change(active.manifestDigest) { $0.state = .confirmed }
            }
        } catch {
            guard case .disk(let reason) = error, reason.isWrongPlace else { throw SyncError(error) }
            throw SyncError(
                code: reason.code,
                "\(model) \(active.version) could not be confirmed: \(reason). Confirm as the user that runs "
                    + "`sealift sync`, or as one that may write \(device.path), as by a group that both are in"
            )
        }
        return Version(model: model, version: active.version.description, reason: "confirmed")
    }

    /// Counts a start of the app with `model`, and goes back first if a trial is lost with it.
    ///
    /// Without room to write the count the start counts all the same, once. Going
    /// back is one rename, which works on a full disk.
    ///
    /// - Parameter model: `NAMESPACE/MODEL`.
    /// - Returns: The version to start with.
    /// - Throws: `SyncError` when no version is active, or none may be used.
    @discardableResult
    public func start(of model: String) throws(SyncError) -> Started {
        let name = try Self.name(model)
        let now = clock()
        let counted = try onDisk { () throws(GenerationError) in try device.countStart(of: name, at: now) }
        do throws(SyncError) {
            return Started(version: try activeModel(model).version.description, counted: counted)
        } catch {
            guard let left = counted.left else { throw error }
            throw SyncError(error.kind, "\(left), and no version before it is good. \(error.message)")
        }
    }

    /// Takes back a start of an app that could not be started after all; what was left for it stays left.
    package func takeBack(_ start: Started) { device.takeBack(start.counted) }

    private func activeModel(_ model: String) throws(SyncError) -> ActiveModel {
        let name = try Self.name(model)
        return try onDisk { () throws(GenerationError) in try device.activeModel(name) }
    }

    static func name(_ model: String) throws(SyncError) -> ModelName {
        guard let name = ModelName(model) else {
            throw SyncError(.usage, "\"\(model)\" is not a model: expected NAMESPACE/MODEL")
        }
        return name
    }

    // MARK: quarantine

    /// Versions that this device does not take again, each with the reason.
    public func quarantine() throws(SyncError) -> [Version] {
        try onDisk { () throws(GenerationError) in
            let active = try device.activeGeneration()
            return try device.quarantine(active, at: nil, noted: clock()).entries.map {
                Version(
                    model: $0.model.description,
                    version: $0.version.description,
                    reason: "\($0.reason), at \($0.time)"
                )
            }
        }
    }

    /// Lets versions be taken again, and golden vectors that never came to an end, of any model, be begun at once.
    ///
    /// - Parameter model: Of this model alone; `nil` is of all.
    /// - Returns: How many.
    /// - Throws: `SyncError` when the device's note cannot be read or written.
    @discardableResult
    public func clearQuarantine(_ model: String? = nil) throws(SyncError) -> Int {
        var wanted: ModelName?
        if let model { wanted = try Self.name(model) }
        return try onDisk { () throws(GenerationError) in
            let active = try? device.activeGeneration()
            var cleared = 0
            try device.settleQuarantine(active, at: nil, noted: clock()) { quarantine in
                let before = quarantine.entries.count
                quarantine.entries.removeAll { wanted == nil || $0.model == wanted }
                cleared = before - quarantine.entries.count
            }
            var checked = try device.note(CheckedVersions.self)
            checked.forgetUnfinished()
            try device.save(checked)
            return cleared
        }
    }
}
