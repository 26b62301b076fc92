import Foundation
import ModelRuntimes

/// What is installed on this machine for the tests, and the fixtures of this package.
enum Installed {
    static let absent: String =
        "no ONNX Runtime: set SEALIFT_ORT_LIBRARY or install onnxruntime into .build/venv"

    /// The library, from the variables of the product or from `.build/venv` of this package.
    static let libraryPath: String? = {
        if let path = try? ONNXRuntimeLocator().locate() { return path }
        let environment = ["SEALIFT_ORT_DIR": packageRoot + "/.build/venv"]
        return try? ONNXRuntimeLocator(environment: environment).locate()
    }()

    static var hasRuntime: Bool { libraryPath != nil }

    static func runtime() async throws -> ONNXRuntime {
        try await ONNXRuntime(ONNXRuntimeLocator(path: libraryPath))
    }

    /// The file type model that the Python package `magika` brings, beside `onnxruntime`.
    static let magikaModel: String? = {
        guard let libraryPath else { return nil }
        let packages = URL(fileURLWithPath: libraryPath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let model = packages.appending(path: "magika/models/standard_v3_3/model.onnx").path
        return FileManager.default.fileExists(atPath: model) ? model : nil
    }()

    static let testsRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().path
    static let packageRoot = URL(fileURLWithPath: testsRoot).deletingLastPathComponent().path

    static func fixture(_ name: String) -> String { "\(testsRoot)/Fixtures/models/\(name)" }
}
