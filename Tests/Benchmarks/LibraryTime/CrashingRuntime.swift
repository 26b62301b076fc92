import Glibc
import Inference
import ModelLibrary

/// A runtime that takes its process down when it loads a version 1.1.0, and ends it in good order at a version 1.2.0.
struct CrashingRuntime: ModelRuntime {
    let runtime: any ModelRuntime

    var name: String { runtime.name }
    var version: String { runtime.version }

    func runs(format: String) -> Bool { runtime.runs(format: format) }

    func load(entry: String, options: LoadOptions) async throws -> any LoadedModel {
        if entry.contains("/1.1.0-") { abort() }
        if entry.contains("/1.2.0-") { exit(3) }
        return try await runtime.load(entry: entry, options: options)
    }

    /// Uses the model of a device once and prints which version it was.
    static func use(_ runtime: any ModelRuntime, device: String) async throws {
        let library = ModelLibrary(directory: device, runtimes: [CrashingRuntime(runtime: runtime)])
        let version = try await library.withModel(try ModelRequest("bench/small")) { $0.version }
        LibraryTime.print(["name": "crash", "version": version])
    }
}
