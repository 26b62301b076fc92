import Blocking
import Inference

/// A runtime that counts its loads.
final class CountedRuntime: ModelRuntime {
    private let runtime: any ModelRuntime
    private let count = Guarded(0)

    init(_ runtime: any ModelRuntime) { self.runtime = runtime }

    var loads: Int { count.withLock { $0 } }
    var name: String { runtime.name }
    var version: String { runtime.version }
    var processors: Set<ComputeUnits> { runtime.processors }

    func runs(format: String) -> Bool { runtime.runs(format: format) }

    func load(entry: String, options: LoadOptions) async throws -> any LoadedModel {
        count.withLock { $0 += 1 }
        return try await runtime.load(entry: entry, options: options)
    }
}
