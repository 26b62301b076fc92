import Blocking
import CanonicalJSON
import Durable
import Names

/// What a library remembers between runs (`sealift/library@1`): use by model, and measured costs.
///
///     { "type": "sealift/library@1",
///       "models": [{"model", "requests", "loads", "load_milliseconds", "failures", "bytes"}],
///       "costs": [{"manifest", "runtime", "options", "bytes"}] }
///
/// It is a note to itself: one that is missing or damaged costs a first guess
/// and nothing else. Of several processes that share a file the last one wins.
package struct LibraryRecord: Sendable, Equatable {
    static let type = "sealift/library@1"
    static let maximumLength = ByteCount.mebibytes(4)

    /// What no count of a real run is beyond, and what sums and shares of a few of them do not overflow with.
    private static let counts: ClosedRange<Int64> = 0...1 << 53

    /// The use of one model.
    package struct Model: Sendable, Equatable {
        package let model: String
        package var requests: Int64
        package var loads: Int64
        package var loadMilliseconds: Int64
        package var failures: Int64

        /// Bytes of the last load.
        package var bytes: Int64
    }

    package var models: [Model]
    var costs: MemoryCosts

    init(models: [Model], costs: MemoryCosts) {
        self.models = models
        self.costs = costs
    }

    /// Reads a file.
    ///
    /// - Returns: `nil` when it is not there or is no record.
    package static func read(_ path: String) -> LibraryRecord? {
        guard let bytes = try? Durable.readFile(path, maximum: maximumLength),
            let value = try? JSONParser.parse(bytes, maximumLength: bytes.count, maximumDepth: 4)
        else { return nil }
        return LibraryRecord(value)
    }

    init?(_ value: JSONValue) {
        guard value["type"]?.string == Self.type, let models = value["models"]?.array,
            let costs = value["costs"]?.array
        else { return nil }
        self.models = models.compactMap { value in
            guard let model = value["model"]?.string, let requests = value["requests"]?.integer,
                let loads = value["loads"]?.integer, let failures = value["failures"]?.integer,
                let milliseconds = value["load_milliseconds"]?.integer, let bytes = value["bytes"]?.integer,
                [requests, loads, failures, milliseconds, bytes].allSatisfy({ Self.counts.contains($0) })
            else { return nil }
            return Model(
                model: model,
                requests: requests,
                loads: loads,
                loadMilliseconds: milliseconds,
                failures: failures,
                bytes: bytes
            )
        }
        self.costs = MemoryCosts()
        for cost in costs {
            guard let manifest = cost["manifest"]?.string.flatMap({ Digest(hex: $0) }),
                let runtime = cost["runtime"]?.string, let options = cost["options"]?.string,
                let bytes = cost["bytes"]?.integer.flatMap({ UInt64(exactly: $0) })
            else { continue }
            self.costs.learn(
                bytes,
                in: MemoryCosts.Circumstances(manifest: manifest, runtime: runtime, options: options)
            )
        }
    }

    /// As the file has it.
    var bytes: [UInt8] {
        let models = models.sorted { $0.model < $1.model }.map { model in
            JSONValue.members([
                "bytes": .integer(model.bytes), "failures": .integer(model.failures),
                "load_milliseconds": .integer(model.loadMilliseconds), "loads": .integer(model.loads),
                "model": .text(model.model), "requests": .integer(model.requests),
            ])
        }
        let costs = costs.order.map { [measured = costs.measured] circumstances in
            JSONValue.members([
                "bytes": .integer(Int64(clamping: measured[circumstances] ?? 0)),
                "manifest": .text(circumstances.manifest.hex),
                "options": .text(circumstances.options), "runtime": .text(circumstances.runtime),
            ])
        }
        return JSONValue.members([
            "costs": .array(costs), "models": .array(models), "type": .text(Self.type),
        ]).compactJSON
    }
}

extension ModelLibrary {
    /// Writes the record now, if the configuration names a file; a disk that takes none is no failure.
    public func saveRecord() async {
        guard let file = configuration.recordFile else { return }
        var models: [String: LibraryRecord.Model] = [:]
        for model in counters.earlier { models[model.model] = model }
        for metrics in metrics() {
            let old = models[metrics.model]
            models[metrics.model] = LibraryRecord.Model(
                model: metrics.model,
                requests: (old?.requests ?? 0) + Int64(clamping: metrics.requests),
                loads: (old?.loads ?? 0) + Int64(clamping: metrics.loads),
                loadMilliseconds: (old?.loadMilliseconds ?? 0) + Int64(metrics.loadSeconds * 1_000),
                failures: (old?.failures ?? 0)
                    + Int64(clamping: metrics.refusals + metrics.inferenceFailures),
                bytes: metrics.loads > 0 ? Int64(clamping: metrics.bytes) : old?.bytes ?? 0
            )
        }
        let bytes = LibraryRecord(models: Array(models.values), costs: costs).bytes
        // One after the other, so that what was counted last is what stands in the file.
        let before = lastSave
        let save = Task {
            await before?.value
            await BlockingPool.shared.run { try? Durable.writeAtomically(file, bytes, mode: 0o644) }
        }
        lastSave = save
        await save.value
    }
}
