import Arguments
import Checking
import ModelRuntimes
import SyncAgent

/// What loads models on this machine.
enum DeviceRuntimes {
    static let option = OptionSpec.value(
        "runtime",
        "NAME=VERSION",
        "what loads models here, such as onnxruntime=1.24.1; ONNX Runtime is found by itself unless given",
        repeatable: true
    )

    /// Those that were named, else the ONNX Runtime that `infer` would use, if there is one.
    static func all(_ arguments: ParsedArguments, library: String? = nil) throws -> [InstalledRuntime] {
        let named = arguments.all("runtime")
        guard named.isEmpty else {
            return try named.map { text in
                let halves = text.split(separator: "=", maxSplits: 1).map(String.init)
                guard halves.count == 2 else {
                    throw UsageError.badValue(text, of: "--runtime", expected: "NAME=VERSION")
                }
                return try InstalledRuntime(name: halves[0], version: halves[1])
            }
        }
        do throws(ONNXRuntimeError) {
            let version = try ONNXRuntimeLocator(path: library).installedVersion()
            return [try? InstalledRuntime(name: "onnxruntime", version: version).asFound].compactMap(\.self)
        } catch {
            if case .notFound = error { return [] }
            Output.note("warning: \(error); what it can load is not known")
            return []
        }
    }

    /// The library that runs golden vectors: the one named, else that which `infer` would use.
    ///
    /// - Parameters:
    ///   - named: By the call or its configuration.
    ///   - isTold: Whether ``all(_:library:)`` looked at it too, and told why it is refused.
    /// - Returns: `nil` when there is none that may be opened.
    static func library(_ named: String?, isTold: Bool = false) -> String? {
        do throws(ONNXRuntimeError) { return try ONNXRuntimeLocator(path: named).locate() } catch {
            if case .notFound = error { return nil }
            if !isTold { Output.note("warning: \(error); golden vectors are not run") }
            return nil
        }
    }

    /// What runs golden vectors here: this very program, also when the file was replaced by a newer one meanwhile.
    static func checkProgram() -> CheckProgram? {
        library(nil).map { CheckProgram("/proc/self/exe", library: $0) }
    }
}
