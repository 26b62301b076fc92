import Durable
import Glibc
import Testing

/// Every suite that starts real programs; one at a time, because they share the machine's cores and clock.
@Suite("End to end", .serialized)
struct EndToEnd {}

/// What other people's programs a test may need, and the reason to print when they are not here.
enum Peers {
    static let noRuntime: Comment = "ONNX Runtime is not installed; ‘make setup’ installs it"
    static let noPython: Comment = "no Python environment; ‘make setup’ makes it"
    static let noFakeTime: Comment = "libfaketime is not installed; ‘make setup’ installs it"

    static let python: String? = variable("SEALIFT_PYTHON").flatMap { access($0, X_OK) == 0 ? $0 : nil }

    static let runtimeFolder: String? = {
        guard let python else { return nil }
        let folder = python.split(separator: "/").dropLast(2).joined(separator: "/")
        for version in ["3.11", "3.12", "3.13"] {
            let candidate = "/\(folder)/lib/python\(version)/site-packages/onnxruntime/capi"
            if access(candidate, R_OK) == 0 { return candidate }
        }
        return nil
    }()

    /// The library itself.
    static let runtimeLibrary: String? = runtimeFolder.flatMap { folder in
        let names = (try? Durable.names(in: folder)) ?? []
        return names.first { $0.hasPrefix("libonnxruntime.so") }.map { "\(folder)/\($0)" }
    }

    static var hasRuntime: Bool { runtimeFolder != nil }
    static var runtimeEnvironment: [String: String] { runtimeFolder.map { ["SEALIFT_ORT_DIR": $0] } ?? [:] }

    static let fakeTimeLibrary: String? = [
        "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
        "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    ].first { access($0, R_OK) == 0 }

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
