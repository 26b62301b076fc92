import CanonicalJSON
import Durable
import Foundation
import Generations
import Inference
import Manifest
import ModelFormats
import ModelLibraryTesting
import ModelRuntimes
import Names
import Signing
import Support
import Testing

/// A device directory on the disk, filled as a sync fills it, with a real ONNX model.
struct RealDevice {
    static let absent = "no ONNX Runtime: set SEALIFT_ORT_LIBRARY or install onnxruntime into .build/venv"

    static let testsPath = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().path

    static let runtimePath: String? = {
        if let path = try? ONNXRuntimeLocator().locate() { return path }
        let python = Durable.parent(of: testsPath) + "/.build/venv"
        return try? ONNXRuntimeLocator(environment: ["SEALIFT_ORT_DIR": python]).locate()
    }()

    let scratch = Scratch()
    let device: DeviceDirectory
    let name: ModelName

    init() throws {
        device = try DeviceDirectory.create(scratch.path("device"))
        guard let name = ModelName("vision/detector") else { throw FakeFailure(text: "no name") }
        self.name = name
    }

    /// Installs and activates a version of the classifier in the fixtures, its interface changed by `change`.
    @discardableResult
    func activate(
        _ text: String,
        bounds: TrialBounds? = nil,
        checks: [JSONValue] = [],
        _ change: (inout Interface) -> Void = { _ in }
    ) throws -> VersionIdentity {
        guard let version = ModelVersion(text), let variant = VariantName("default"),
            let entry = FilePath("model.onnx"), let created = UnixTime("2026-01-02T03:04:05Z")
        else { throw FakeFailure(text: "no version \(text)") }
        let fixture = Self.testsPath + "/Fixtures/models/onnx/mlp_dynamic_batch.onnx"
        // One more metadata entry makes other bytes of the same network.
        let entryBytes = [0x0A, 1, UInt8(ascii: "v"), 0x12, UInt8(text.utf8.count)] + Array(text.utf8)
        let bytes =
            try Durable.readFile(fixture, maximum: .mebibytes(1)) + [0x72, UInt8(entryBytes.count)]
            + entryBytes
        let digest = SHA256.digest(of: bytes)
        let incoming = device.incomingPath + "/\(digest)"
        try Durable.writeAtomically(incoming, bytes, mode: 0o644)
        var interface = try ModelFile.inspect(source: FileSource(incoming), name: "model.onnx").interface
        change(&interface)
        let file = ManifestFile(path: entry, length: UInt64(bytes.count), sha256: digest, blocks: nil)
        let manifest = try ModelManifest(
            model: name,
            version: version,
            created: created,
            interface: interface,
            variants: [Variant(name: variant, format: .onnx, entry: entry, files: [file])],
            checks: checks
        )
        .encoded()
        let identity = VersionIdentity(
            model: name,
            version: version,
            variant: variant,
            manifest: SHA256.digest(of: manifest)
        )
        try device.install(identity, manifest: manifest, sources: [digest: incoming])
        let model = GenerationRecord.Model(identity: identity, entry: entry, channel: nil, reason: "a test")
        _ = try device.activate([model], created: created, bounds: { _ in bounds })
        return identity
    }

    func recall(_ identity: VersionIdentity) throws {
        guard let time = UnixTime("2026-01-02T03:04:05Z") else { throw FakeFailure(text: "no time") }
        let state = TrustState(
            checked: time,
            freshUntil: time,
            graceUntil: time,
            recalled: [identity.manifest]
        )
        try Durable.writeAtomically(device.trustPath + "/state.json", state.canonical, mode: 0o644)
    }

    /// A golden vector of the classifier: an iris, and the label that it must get.
    static func check(label: Int64) throws -> JSONValue {
        let features = try Tensor([Float(5.1), 3.5, 1.4, 0.2], shape: [1, 4])
        let expected = try Tensor([label], shape: [1])
        func written(_ tensor: Tensor) -> JSONValue {
            .members(["base64": .text(Data(tensor.bytes).base64EncodedString())])
        }
        return .members([
            "inputs": .members(["features": written(features)]),
            "outputs": .members(["label": written(expected)]),
        ])
    }
}

extension Trait where Self == ConditionTrait {
    /// What needs ONNX Runtime is skipped, and counted, where that is not installed.
    static var withRuntime: Self {
        .enabled(if: RealDevice.runtimePath != nil, Comment(rawValue: RealDevice.absent))
    }
}
