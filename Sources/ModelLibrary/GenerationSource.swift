import Blocking
import CanonicalJSON
import Generations
import Inference
import Manifest
import Names

/// The active versions of a device directory, as the last sync left them.
///
/// What must not run any more is known from the last sync, and is looked up
/// again whenever the device is looked at, so that a recalled version is not lent
/// again even when it is in memory.
///
/// A version that does not work here goes into the quarantine of the device,
/// which every app and every sync goes by; where the directory cannot be
/// written, this library alone goes by it.
struct GenerationSource: ModelSource {
    let directory: String
    private let starts = CountedStarts()

    /// What could not be noted on the device.
    private let condemned = Guarded<[Digest: String]>([:])

    /// Whether the app brought it, so that its chain counts as of the day it was built, and nothing is written there.
    private let isBundle: Bool

    /// Whether a version that does not work goes into the device's quarantine, and a load in progress is noted there.
    private let isNoting: Bool

    init(directory: String, isBundle: Bool = false, isNoting: Bool = true) {
        self.directory = directory
        self.isBundle = isBundle
        self.isNoting = isNoting
    }

    func stamp() -> SourceStamp? { DeviceStamp.numbers(directory).map { SourceStamp($0) } }

    func activeVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion {
        let (version, quarantine) = try choice(of: model)
        if let quarantine { throw version.refused(quarantine) }
        return version
    }

    /// The version to use now; with the reason where it is in the quarantine, and nothing was active before it.
    func choice(
        of model: ModelName
    ) throws(ModelLibraryError) -> (version: LibraryVersion, quarantine: String?) {
        let device = try device(for: model)
        let active = try Self.told(model) { () throws(GenerationError) in
            guard let generation = try device.activeGeneration() else {
                throw .nothingActive(directory: directory)
            }
            guard let active = generation.record.model(model) else {
                throw .notActive(model: model, active: generation.record.models.map(\.identity.model))
            }
            return active.identity
        }
        let version = LibraryVersion(active)
        if let obstacle = try obstacle(to: version) { throw version.refused(obstacle) }
        guard let reason = try quarantine(of: version) else { return (version, nil) }
        if let earlier = try earlierVersion(of: model, than: version) { return (earlier, nil) }
        return (version, reason)
    }

    func earlierVersion(
        of model: ModelName,
        than version: LibraryVersion
    ) throws(ModelLibraryError) -> LibraryVersion? {
        let device = try device(for: model)
        let versions = try Self.told(model) { () throws(GenerationError) -> [LibraryVersion] in
            guard let active = try device.activeGeneration() else { return [] }
            return ([active] + device.generations(before: active)).compactMap { generation in
                generation.record.model(model).map { LibraryVersion($0.identity) }
            }
        }
        for other in versions where other != version {
            if try mayRun(other) { return other }
        }
        return nil
    }

    func mayRun(_ version: LibraryVersion) throws(ModelLibraryError) -> Bool {
        guard try obstacle(to: version) == nil else { return false }
        return try quarantine(of: version) == nil
    }

    /// Why the version must not run any more: it is recalled, or the grace of the chain is over.
    private func obstacle(to version: LibraryVersion) throws(ModelLibraryError) -> String? {
        let device = try device(for: version.model)
        return try Self.told(version.model) { () throws(GenerationError) in
            guard !isBundle else {
                let isRecalled = try device.trustState()?.recalled.contains(version.manifest) ?? false
                return isRecalled ? "it was recalled when the app was built" : nil
            }
            return try device.obstacle(to: version.manifest)
        }
    }

    /// Why the version is not tried again; `nil` when it may be.
    private func quarantine(of version: LibraryVersion) throws(ModelLibraryError) -> String? {
        if let reason = condemned.withLock({ $0[version.manifest] }) {
            return "it did not work before: \(reason)"
        }
        let device = try device(for: version.model)
        let entry = try Self.told(version.model) { () throws(GenerationError) in
            try device.note(Quarantine.self)[version.manifest]
        }
        return entry.map { entry in
            "it is quarantined on this device since \(entry.time): \(entry.reason); "
                + "`sealift quarantine clear \(version.model)` lets it be tried again"
        }
    }

    func open(_ version: LibraryVersion) throws(ModelLibraryError) -> OpenedModel? {
        let device = try device(for: version.model)
        if !isBundle {
            // A start that is one too many goes back, and the caller looks again.
            guard try !leavesTrial(of: version.model, on: device) else { return nil }
        }
        guard let (model, lease) = try holder(of: version, on: device) else { return nil }
        if let obstacle = try obstacle(to: version) { throw version.refused(obstacle) }
        if let reason = try quarantine(of: version) { throw version.refused(reason) }
        var opened = OpenedModel(
            version: version,
            directory: model.directory,
            entryPath: model.entryPath,
            format: model.content.format.rawValue,
            ports: ModelPorts(model.interface)
        )
        opened.labels = model.interface.labels?.shown ?? []
        opened.length = model.content.length
        opened.memory = model.content.memory
        opened.checks = model.manifest.checks
        opened.hold = lease
        if !isBundle { Self.watchLoads(of: &opened, on: device, isNoting) }
        return opened
    }

    /// Notes here how loads of a version end that the app brought, since that is not to be written.
    func watchLoads(of opened: inout OpenedModel) {
        // Where there is no directory yet, nothing is known.
        guard let device = try? self.device(for: opened.version.model) else { return }
        Self.watchLoads(of: &opened, on: device, isNoting)
    }

    private static func watchLoads(
        of opened: inout OpenedModel,
        on device: DeviceDirectory,
        _ isNoting: Bool
    ) {
        opened.verdict = device.loadHistory(of: opened.version.manifest).verdict
        if isNoting { opened.note = DeviceLoadNote(opened.version.manifest, on: device) }
    }

    /// The version where it is active or was before, with a lease on it.
    ///
    /// - Returns: `nil` when it is being collected, so that a newer one is active already.
    private func holder(
        of version: LibraryVersion,
        on device: DeviceDirectory
    ) throws(ModelLibraryError) -> (ActiveModel, DirectoryLease)? {
        try Self.told(version.model) { () throws(GenerationError) -> (ActiveModel, DirectoryLease)? in
            guard let active = try device.activeGeneration() else { return nil }
            let generations = [active] + device.generations(before: active)
            let holder = generations.first { generation in
                generation.record.model(version.model).map { LibraryVersion($0.identity) } == version
            }
            do throws(GenerationError) {
                guard let model = try holder?.model(version.model), let lease = try model.lease() else {
                    return nil
                }
                return (model, lease)
            } catch {
                // Collected meanwhile, if the device has moved on by now; else it is as it is.
                guard try device.activeGeneration()?.number == active.number else { return nil }
                throw error
            }
        }
    }

    func condemn(
        _ version: LibraryVersion,
        _ reason: String
    ) throws(ModelLibraryError) -> QuarantinePlace {
        let device = try device(for: version.model)
        try verify(version)
        guard isNoting else { return remember(version, reason, "this library leaves the device as it is") }
        let identity = VersionIdentity(
            model: version.model,
            version: version.version,
            variant: version.variant,
            manifest: version.manifest
        )
        do throws(GenerationError) {
            try device.condemn(identity, reason: reason, at: MachineClock.now)
        } catch {
            return remember(version, reason, "\(error)")
        }
        device.forgetCrashes(of: version.manifest)
        return .device
    }

    /// Reads every byte of a version, if it is here.
    ///
    /// Files that rotted without a trace in their state are not the version's
    /// fault, and a sync repairs them.
    ///
    /// - Throws: `ModelLibraryError.refused` with the first file that differs.
    func verify(_ version: LibraryVersion) throws(ModelLibraryError) {
        guard let (model, _) = try holder(of: version, on: try device(for: version.model)) else { return }
        _ = try Self.told(version.model, version) { () throws(GenerationError) in try model.verify() }
    }

    /// Goes by a verdict that could not be noted on the device, as long as this library lives.
    func remember(_ version: LibraryVersion, _ reason: String, _ why: String) -> QuarantinePlace {
        condemned.withLock { $0[version.manifest] = reason }
        return .memory(why)
    }

    /// Counts one start of the app for a version on trial, at the first opening of its model.
    ///
    /// - Returns: Whether the trial is lost with it, so that another version is active now.
    private func leavesTrial(
        of model: ModelName,
        on device: DeviceDirectory
    ) throws(ModelLibraryError) -> Bool {
        guard starts.isFirst(model) else { return false }
        return try Self.told(model) { () throws(GenerationError) in
            try device.countStart(of: model, at: MachineClock.now).left != nil
        }
    }

    private func device(for model: ModelName) throws(ModelLibraryError) -> DeviceDirectory {
        try Self.told(model) { () throws(GenerationError) in try DeviceDirectory.open(directory) }
    }

    /// Runs steps on the device directory, so that their errors come out as the library's.
    private static func told<Value>(
        _ model: ModelName,
        _ version: LibraryVersion? = nil,
        _ steps: () throws(GenerationError) -> Value
    ) throws(ModelLibraryError) -> Value {
        do {
            return try steps()
        } catch {
            let (name, reason) = (model.description, error.description)
            let text = version?.versionText ?? "(active)"
            switch error {
            case .missing, .nothingActive, .notActive: throw .notAvailable(model: name, reason: reason)
            case .damaged, .unfit, .condemned, .linked:
                throw .refused(model: name, version: text, reason: reason)
            case .disk: throw .failed(model: name, version: text, reason: reason)
            }
        }
    }
}

/// The models that this library opened once, each of which is one start of the app for a version on trial.
private final class CountedStarts: Sendable {
    private let models = Guarded<Set<ModelName>>([])

    /// Whether this is the first time, and nobody counted it for the app, as `sealift run` does before it starts one.
    func isFirst(_ model: ModelName) -> Bool {
        guard models.withLock({ $0.insert(model).inserted }) else { return false }
        return CountedStart.model != model.description
    }
}

extension LibraryVersion {
    fileprivate init(_ identity: VersionIdentity) {
        self.init(
            model: identity.model,
            version: identity.version,
            variant: identity.variant,
            manifest: identity.manifest
        )
    }
}

extension ClassLabels {
    fileprivate var shown: [String] {
        switch self {
        case .texts(let labels): labels.map(\.string)
        case .integers(let labels): labels.map(String.init)
        }
    }
}
