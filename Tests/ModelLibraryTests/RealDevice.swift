import CanonicalJSON
import DeviceSupport
import Durable
import Foundation
import Generations
import Inference
import Manifest
import ModelLibraryTesting
import ModelRuntimes
import Names
import Support
import Testing

/// A `ModelDevice` with versions of one small ONNX model.
struct RealDevice {
    static let absent = "no ONNX Runtime: set SEALIFT_ORT_LIBRARY or install onnxruntime into .build/venv"

    static let testsPath = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().path

    static let runtimePath: String? = {
        if let path = try? ONNXRuntimeLocator().locate() { return path }
        let python = Durable.parent(of: testsPath) + "/.build/venv"
        return try? ONNXRuntimeLocator(environment: ["SEALIFT_ORT_DIR": python]).locate()
    }()

    let name: ModelName
    private let real: ModelDevice

    var device: DeviceDirectory { real.device }
    var scratch: Scratch { real.scratch }

    init() throws {
        guard let name = ModelName("vision/detector") else { throw FakeFailure(text: "no name") }
        self.name = name
        real = try ModelDevice()
    }

    /// Installs and activates a version of the classifier in the fixtures, its interface changed by `change`.
    @discardableResult
    func activate(
        _ version: String,
        bounds: TrialBounds? = nil,
        checks: [JSONValue] = [],
        _ change: (inout Interface) -> Void = { _ in }
    ) throws -> VersionIdentity {
        let fixture = Self.testsPath + "/Fixtures/models/onnx/mlp_dynamic_batch.onnx"
        let bytes = ModelDevice.marked(try Durable.readFile(fixture, maximum: .mebibytes(1)), version)
        var interface = try ModelDevice.interface(of: ("model.onnx", bytes), in: scratch)
        change(&interface)
        return try real.activate(
            name.description,
            version,
            [("model.onnx", bytes)],
            interface: interface,
            checks: checks,
            bounds: bounds
        )
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
