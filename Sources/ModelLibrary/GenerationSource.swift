import CanonicalJSON
import Generations
import Inference
import Manifest
import Names

/// The active versions of a device directory, as the last sync left them.
///
/// Recalls are those that the last sync learned; they are looked up again at
/// every request, so that a recalled version is not lent again even when it is
/// in memory.
struct GenerationSource: ModelSource {
    let directory: String

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
        return try allowed(active, on: device)
    }

    func open(_ model: ModelName) throws(ModelLibraryError) -> OpenedModel {
        let device = try device(for: model)
        // No lease means that the version is being collected, so that a newer one is active already.
        for _ in 0..<4 {
            let (active, lease) = try Self.told(model) { () throws(GenerationError) in
                let active = try device.activeModel(model)
                return (active, try active.lease())
            }
            guard let lease else { continue }
            let version = try allowed(active.identity, on: device)
            return OpenedModel(
                version: version,
                directory: active.directory,
                entryPath: active.entryPath,
                format: active.content.format.rawValue,
                ports: ModelPorts(active.interface),
                labels: active.interface.labels?.shown ?? [],
                hold: lease
            )
        }
        throw .notAvailable(model: model.description, reason: "its files are being collected")
    }

    private func device(for model: ModelName) throws(ModelLibraryError) -> DeviceDirectory {
        try Self.told(model) { () throws(GenerationError) in try DeviceDirectory.open(directory) }
    }

    private func allowed(
        _ identity: VersionIdentity,
        on device: DeviceDirectory
    ) throws(ModelLibraryError) -> LibraryVersion {
        let version = LibraryVersion(
            model: identity.model,
            version: identity.version,
            variant: identity.variant,
            manifest: identity.manifest
        )
        let obstacle = try Self.told(identity.model) { () throws(GenerationError) in
            try device.obstacle(to: identity.manifest)
        }
        if let obstacle { throw version.refused(obstacle) }
        return version
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

extension ClassLabels {
    fileprivate var shown: [String] {
        switch self {
        case .texts(let labels): labels.map(\.string)
        case .integers(let labels): labels.map(String.init)
        }
    }
}
