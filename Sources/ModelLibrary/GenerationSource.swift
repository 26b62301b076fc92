import Blocking
import CanonicalJSON
import Generations
import Glibc
import Inference
import Manifest
import Names

/// The active versions of a device directory, as the last sync left them.
///
/// What must not run any more is known from the last sync, and is looked up
/// again whenever the device is looked at, so that a recalled version is not lent
/// again even when it is in memory.
struct GenerationSource: ModelSource {
    let directory: String
    private let starts = CountedStarts()

    init(directory: String) { self.directory = directory }

    /// The state of `current` and of `trust/state.json`; each is replaced by a rename and never written again.
    func stamp() -> SourceStamp? {
        var numbers: [Int64] = []
        for name in ["current", "trust/state.json"] {
            var status = stat()
            guard lstat("\(directory)/\(name)", &status) == 0 else {
                guard errno == ENOENT else { return nil }
                numbers.append(0)
                continue
            }
            numbers += [
                Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_ctim.tv_sec),
                Int64(status.st_ctim.tv_nsec),
            ]
        }
        return SourceStamp(numbers)
    }

    func activeVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion {
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
        return version
    }

    func earlierVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion? {
        let device = try device(for: model)
        let versions = try Self.told(model) { () throws(GenerationError) -> [LibraryVersion] in
            guard let active = try device.activeGeneration() else { return [] }
            return ([active] + device.generations(before: active)).compactMap { generation in
                generation.record.model(model).map { LibraryVersion($0.identity) }
            }
        }
        for version in versions where version != versions.first {
            if try mayRun(version) { return version }
        }
        return nil
    }

    func mayRun(_ version: LibraryVersion) throws(ModelLibraryError) -> Bool {
        try obstacle(to: version) == nil
    }

    /// Why the version must not run any more: it is recalled, or the grace of the chain is over.
    private func obstacle(to version: LibraryVersion) throws(ModelLibraryError) -> String? {
        let device = try device(for: version.model)
        return try Self.told(version.model) { () throws(GenerationError) in
            try device.obstacle(to: version.manifest)
        }
    }

    func open(_ version: LibraryVersion) throws(ModelLibraryError) -> OpenedModel? {
        let device = try device(for: version.model)
        // A start that is one too many goes back, and the caller looks again.
        guard try !leavesTrial(of: version.model, on: device) else { return nil }
        // No lease means that the version is being collected, so that a newer one is active already.
        let found = try Self.told(version.model) {
            () throws(GenerationError) -> (ActiveModel, DirectoryLease)? in
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
        guard let (model, lease) = found else { return nil }
        if let obstacle = try obstacle(to: version) { throw version.refused(obstacle) }
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
        return opened
    }

    /// Counts one start of the app for a version on trial, at the first opening of its model.
    ///
    /// - Returns: Whether the trial is lost with it, so that another version is active now.
    private func leavesTrial(
        of model: ModelName,
        on device: DeviceDirectory
    ) throws(ModelLibraryError) -> Bool {
        guard starts.isFirst(model) else { return false }
        let now = UnixTime(rawValue: Int64(time(nil)))
        return try Self.told(model) { () throws(GenerationError) in
            try device.countStart(of: model, at: now) != nil
        }
    }

    private func device(for model: ModelName) throws(ModelLibraryError) -> DeviceDirectory {
        try Self.told(model) { () throws(GenerationError) in try DeviceDirectory.open(directory) }
    }

    /// Runs steps on the device directory, so that their errors come out as the library's.
    private static func told<Value>(
        _ model: ModelName,
        _ steps: () throws(GenerationError) -> Value
    ) throws(ModelLibraryError) -> Value {
        do {
            return try steps()
        } catch {
            let (name, reason) = (model.description, error.description)
            switch error {
            case .missing, .nothingActive, .notActive: throw .notAvailable(model: name, reason: reason)
            case .damaged, .unfit: throw .refused(model: name, version: "(active)", reason: reason)
            case .disk: throw .failed(model: name, version: "(active)", reason: reason)
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
        let counted = getenv("SEALIFT_STARTED").map { String(cString: $0) }
        return counted != model.description
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
