import CanonicalJSON
import Durable
import Glibc
import Names

/// What a library remembers between runs (`sealift/library@1`): use by model, measured costs, and which versions
/// reproduced their golden vectors.
///
///     { "type": "sealift/library@1",
///       "models": [{"model", "requests", "loads", "runs", "load_milliseconds", "failures", "bytes"}],
///       "costs": [{"manifest", "runtime", "options", "bytes", "samples": [BYTES, …]}],
///       "proven": [{"manifest", "runtime", "options"}] }
///
/// It is a note to itself: one that is missing, empty or damaged costs a first
/// guess and nothing else. What is no record is neither read nor replaced.
package struct LibraryRecord: Sendable, Equatable {
    static let type = "sealift/library@1"
    static let maximumLength = ByteCount.mebibytes(4)

    /// What no count of a real run is beyond, and what sums and shares of a few of them do not overflow with.
    private static let counts: ClosedRange<Int64> = 0...1 << 53

    /// The most models that are kept, so that the file never gets too long to be read.
    private static let mostModels = 4_000

    /// The use of one model.
    package struct Model: Sendable, Equatable {
        package let model: String
        package var requests: Int64
        package var loads: Int64

        /// Libraries that loaded it, each of which must once.
        package var runs: Int64
        package var loadMilliseconds: Int64
        package var failures: Int64

        /// Bytes of the last load.
        package var bytes: Int64
    }

    package var models: [Model]
    var costs: MemoryCosts
    var proven = ProvenVersions()

    /// No load took more than this machine has: a cost beyond it is an error, and is measured again.
    private static let machineMemory: UInt64 = {
        let (pages, size) = (sysconf(Int32(_SC_PHYS_PAGES)), sysconf(Int32(_SC_PAGESIZE)))
        guard pages > 0, size > 0 else { return .max }
        let (bytes, overflows) = UInt64(pages).multipliedReportingOverflow(by: UInt64(size))
        return overflows ? .max : bytes
    }()

    init(models: [Model], costs: MemoryCosts) {
        self.models = models
        self.costs = costs
    }

    /// Adds what one library counted and measured.
    mutating func add(_ news: [Model], _ measured: MemoryCosts, _ proven: ProvenVersions = ProvenVersions()) {
        var byName: [String: Model] = [:]
        for model in models { byName[model.model] = model }
        for model in news { byName[model.model] = model.more(byName[model.model]) }
        let inUse = Set(news.map(\.model))
        let others = byName.values.filter { !inUse.contains($0.model) }.sorted { $0.requests > $1.requests }
        models = Array((byName.values.filter { inUse.contains($0.model) } + others).prefix(Self.mostModels))
        costs = costs.followed(by: measured)
        self.proven = self.proven.followed(by: proven)
    }

    /// Reads a file.
    ///
    /// - Returns: `nil` when it is not there or is no record.
    package static func read(_ path: String) -> LibraryRecord? {
        do throws(LibraryRecordError) { return try load(path) } catch { return nil }
    }

    /// Reads a file, and tells what is no record from what is none yet.
    ///
    /// - Returns: `nil` when it is not there, empty, or a record that is damaged.
    /// - Throws: `LibraryRecordError` for a file that must not be replaced.
    package static func load(_ path: String) throws(LibraryRecordError) -> LibraryRecord? {
        let bytes: [UInt8]
        do {
            guard let found = try Durable.readFileIfPresent(path, maximum: maximumLength), !found.isEmpty
            else {
                return nil
            }
            bytes = found
        } catch {
            throw .disk(error)
        }
        guard let value = try? JSONParser.parse(bytes, maximumLength: bytes.count, maximumDepth: 4),
            value["type"]?.string == type
        else { throw .foreign(path: path) }
        return LibraryRecord(value)
    }

    /// Whether a library may keep its record there, before anything is run for it.
    ///
    /// - Throws: `LibraryRecordError`.
    package static func check(_ path: String) throws(LibraryRecordError) {
        guard try load(path) == nil else { return }
        let folder = Durable.parent(of: path)
        do throws(DurableError) {
            guard try Durable.kind(of: folder + "/.") == .directory else {
                throw DurableError.system(operation: "find", path: folder, code: ENOENT)
            }
        } catch {
            throw .disk(error)
        }
    }

    /// Replaces or creates a file.
    ///
    /// - Throws: `LibraryRecordError.disk`.
    func write(to path: String) throws(LibraryRecordError) {
        do { try Durable.writeAtomically(path, bytes, mode: 0o644) } catch { throw .disk(error) }
    }

    init?(_ value: JSONValue) {
        guard value["type"]?.string == Self.type, let models = value["models"]?.array,
            let costs = value["costs"]?.array
        else { return nil }
        self.models = models.compactMap { value in
            guard let model = value["model"]?.string, let requests = value["requests"]?.integer,
                let loads = value["loads"]?.integer, let failures = value["failures"]?.integer,
                let milliseconds = value["load_milliseconds"]?.integer, let bytes = value["bytes"]?.integer,
                case let runs = value["runs"]?.integer ?? min(loads, 1),
                [requests, loads, runs, failures, milliseconds, bytes].allSatisfy({
                    Self.counts.contains($0)
                })
            else { return nil }
            return Model(
                model: model,
                requests: requests,
                loads: loads,
                runs: runs,
                loadMilliseconds: milliseconds,
                failures: failures,
                bytes: bytes
            )
        }
        self.costs = MemoryCosts()
        for cost in costs {
            guard let circumstances = MemoryCosts.Circumstances(cost), let bytes = cost["bytes"] else {
                continue
            }
            for sample in (cost["samples"]?.array ?? [bytes]).suffix(MemoryCosts.mostSamples) {
                guard let bytes = sample.integer.flatMap({ UInt64(exactly: $0) }),
                    bytes <= Self.machineMemory
                else { continue }
                self.costs.learn(bytes, in: circumstances)
            }
        }
        for value in value["proven"]?.array ?? [] {
            if let circumstances = MemoryCosts.Circumstances(value) { proven.insert(circumstances) }
        }
    }

    /// As the file has it.
    var bytes: [UInt8] {
        let models = models.sorted { $0.model < $1.model }.map { model in
            JSONValue.members([
                "bytes": .integer(model.bytes), "failures": .integer(model.failures),
                "load_milliseconds": .integer(model.loadMilliseconds), "loads": .integer(model.loads),
                "model": .text(model.model), "requests": .integer(model.requests),
                "runs": .integer(model.runs),
            ])
        }
        let costs = costs.order.map { [costs] circumstances in
            var object = circumstances.object
            object["bytes"] = .integer(Int64(clamping: costs.measured(circumstances) ?? 0))
            let samples = costs.samples[circumstances] ?? []
            object["samples"] = .array(samples.map { .integer(Int64(clamping: $0)) })
            return JSONValue.object(object)
        }
        let proven = proven.order.map { JSONValue.object($0.object) }
        return JSONValue.members([
            "costs": .array(costs), "models": .array(models), "proven": .array(proven),
            "type": .text(Self.type),
        ]).compactJSON
    }
}

extension MemoryCosts.Circumstances {
    fileprivate init?(_ value: JSONValue) {
        guard let manifest = value["manifest"]?.string.flatMap({ Digest(hex: $0) }),
            let runtime = value["runtime"]?.string, let options = value["options"]?.string
        else { return nil }
        self.init(manifest: manifest, runtime: runtime, options: options)
    }

    fileprivate var object: JSONObject {
        var object = JSONObject()
        object["manifest"] = .text(manifest.hex)
        object["options"] = .text(options)
        object["runtime"] = .text(runtime)
        return object
    }
}

extension LibraryRecord.Model {
    /// What one library counted so far.
    init(_ metrics: ModelMetrics) {
        model = metrics.model
        requests = Int64(clamping: metrics.requests)
        loads = Int64(clamping: metrics.loads)
        runs = metrics.loads > 0 ? 1 : 0
        loadMilliseconds = Int64(metrics.loadSeconds * 1_000)
        failures = Int64(clamping: metrics.refusals + metrics.inferenceFailures)
        bytes = Int64(clamping: metrics.bytes)
    }

    /// What came since `earlier`.
    func less(_ earlier: Self?) -> Self {
        guard let earlier else { return self }
        var news = self
        news.requests -= earlier.requests
        news.loads -= earlier.loads
        news.runs -= earlier.runs
        news.loadMilliseconds -= earlier.loadMilliseconds
        news.failures -= earlier.failures
        return news
    }

    /// Together with `earlier`; of sizes the last one measured stands.
    func more(_ earlier: Self?) -> Self {
        guard let earlier else { return self }
        let most: Int64 = 1 << 53
        var sum = self
        sum.requests = min(requests + earlier.requests, most)
        sum.loads = min(loads + earlier.loads, most)
        sum.runs = min(runs + earlier.runs, most)
        sum.loadMilliseconds = min(loadMilliseconds + earlier.loadMilliseconds, most)
        sum.failures = min(failures + earlier.failures, most)
        if loads == 0, bytes == 0 { sum.bytes = earlier.bytes }
        return sum
    }
}
