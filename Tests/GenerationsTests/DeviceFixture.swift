import Durable
import Generations
import Glibc
import Manifest
import Names
import Signing
import Support

/// A device directory in a scratch folder, and versions to put on it.
struct DeviceFixture {
    static let start = UnixTime(rawValue: 1_790_000_000)

    let scratch: Scratch
    let device: DeviceDirectory

    init() throws {
        scratch = Scratch()
        device = try DeviceDirectory.create(scratch.path("device"))
    }

    /// The content of a version's file: it names the version, so that a mixture shows.
    static func content(_ version: String, _ file: String) -> [UInt8] { Array("\(version) of \(file)".utf8) }

    /// What a version is made of.
    struct Content: Sendable {
        var format = ModelFormat.onnx
        var files = ["model.onnx", "extra/labels.txt"]

        /// Without files.
        var folders: [String] = []

        /// The first of them.
        var entry: String { files.first ?? "" }
    }

    static func manifest(
        _ model: String,
        _ version: String,
        _ shape: Content = Content()
    ) throws -> ModelManifest {
        let files = try shape.files.map { path in
            let bytes = content(version, path)
            return ManifestFile(
                path: try require(FilePath(path)),
                length: UInt64(bytes.count),
                sha256: SHA256.digest(of: bytes),
                blocks: nil
            )
        }
        let variant = Variant(
            name: try require(VariantName("fp32")),
            format: shape.format,
            entry: try require(FilePath(shape.entry)),
            files: files,
            folders: try shape.folders.map { try require(FilePath($0)) }
        )
        return ModelManifest(
            model: try require(ModelName(model)),
            version: try require(ModelVersion(version)),
            created: UnixTime(rawValue: 1_700_000_000),
            interface: Interface(inputs: [], outputs: [], isDeclared: true),
            variants: [variant]
        )
    }

    /// Puts a version in `incoming/` and installs it.
    @discardableResult
    static func install(
        _ version: String,
        of model: String = "vision/detector",
        _ shape: Content = Content(),
        on device: DeviceDirectory
    ) throws -> GenerationRecord.Model {
        let manifest = try manifest(model, version, shape)
        var sources: [Digest: String] = [:]
        for file in manifest.variants[0].files {
            let path = "\(device.incomingPath)/\(file.sha256.hex)"
            try Durable.removeFile(path)
            try Durable.writeAtomically(path, content(version, file.path.description))
            sources[file.sha256] = path
        }
        let record = try record(of: manifest)
        try device.install(record.identity, manifest: manifest.canonical, sources: sources)
        for path in sources.values { try Durable.removeFile(path) }
        return record
    }

    static func record(of manifest: ModelManifest) throws -> GenerationRecord.Model {
        GenerationRecord.Model(
            identity: VersionIdentity(
                model: manifest.model,
                version: manifest.version,
                variant: manifest.variants[0].name,
                manifest: SHA256.digest(of: manifest.canonical)
            ),
            entry: manifest.variants[0].entry,
            channel: ChannelName("stable"),
            reason: "a test"
        )
    }

    /// Puts other bytes in the place of an installed file, as its owner may who takes the trouble.
    static func overwrite(_ path: String, _ bytes: [UInt8], mode: UInt32 = 0o444) throws {
        chmod(Durable.parent(of: path), 0o755)
        try Durable.writeAtomically(path, bytes, mode: mode)
    }

    /// Installs and activates.
    @discardableResult
    func activate(_ version: String, after seconds: Int64 = 0) throws -> ActiveGeneration {
        let record = try Self.install(version, on: device)
        return try device.activate([record], created: Self.start.adding(seconds: seconds))
    }

    var detector: ModelName { get throws { try require(ModelName("vision/detector")) } }

    var activeVersion: String? {
        get throws { try device.activeGeneration()?.model(detector).version.description }
    }
}

struct MissingValue: Error {}

func require<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw MissingValue() }
    return value
}
