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
    static func all(_ arguments: ParsedArguments) throws -> [InstalledRuntime] {
        try stated(arguments) ?? found(arguments).runtimes
    }

    /// What loads models here, and the library that runs golden vectors, looked for once.
    ///
    /// - Parameters:
    ///   - arguments: Those of a call that takes ``option``.
    ///   - named: The library to use, before all others.
    /// - Returns: `library` is `nil` when there is none that may be opened; why, was told.
    /// - Throws: `UsageError`, when what is named is no runtime.
    static func found(
        _ arguments: ParsedArguments,
        library named: String? = nil
    ) throws -> (runtimes: [InstalledRuntime], library: String?) {
        let stated = try stated(arguments)
        let library: String
        do throws(ONNXRuntimeError) { library = try ONNXRuntimeLocator(path: named).locate() } catch {
            if !error.isAbsence {
                let loss = stated == nil ? "what it can load is not known" : "golden vectors are not run"
                Output.note("warning: \(error); \(loss)")
            }
            return (stated ?? [], nil)
        }
        return (stated ?? version(of: library), library)
    }

    private static func stated(_ arguments: ParsedArguments) throws -> [InstalledRuntime]? {
        let named = arguments.all("runtime")
        guard !named.isEmpty else { return nil }
        return try named.map { text in
            let halves = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard halves.count == 2 else {
                throw UsageError.badValue(text, of: "--runtime", expected: "NAME=VERSION")
            }
            return try InstalledRuntime(name: halves[0], version: halves[1])
        }
    }

    private static func version(of library: String) -> [InstalledRuntime] {
        do throws(ONNXRuntimeError) {
            let version = try ONNXRuntimeLocator(path: library).installedVersion()
            return [try? InstalledRuntime(name: "onnxruntime", version: version).asFound].compactMap(\.self)
        } catch {
            Output.note("warning: \(error); what it can load is not known")
            return []
        }
    }

    /// What runs golden vectors here: this very program, also when the file was replaced by a newer one meanwhile.
    static func checkProgram() -> CheckProgram? {
        do throws(ONNXRuntimeError) {
            return CheckProgram("/proc/self/exe", library: try ONNXRuntimeLocator().locate())
        } catch {
            if !error.isAbsence { Output.note("warning: \(error); golden vectors are not run") }
            return nil
        }
    }
}

extension ONNXRuntimeError {
    fileprivate var isAbsence: Bool {
        if case .notFound = self { true } else { false }
    }
}
