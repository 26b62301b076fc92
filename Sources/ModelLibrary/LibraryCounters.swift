import Names

/// What one model has cost and given since the library began.
public struct ModelMetrics: Equatable, Sendable {
    /// The name, `vision/detector`.
    public let model: String

    /// Requests that were served, at once or after a load.
    public internal(set) var requests: UInt64 = 0

    /// Calls that gave an answer.
    public internal(set) var inferences: UInt64 = 0

    /// Calls that failed in the runtime.
    public internal(set) var inferenceFailures: UInt64 = 0

    /// Loads that succeeded.
    public internal(set) var loads: UInt64 = 0

    /// Loads that were refused or failed.
    public internal(set) var refusals: UInt64 = 0

    /// Times that a version left memory, by the reason's name.
    public internal(set) var evictions: [String: UInt64] = [:]

    /// Seconds of all loads together.
    public internal(set) var loadSeconds = 0.0

    /// The seconds of the slowest load.
    public internal(set) var slowestLoad = 0.0

    /// Bytes that the last load took, as far as the system tells.
    public internal(set) var bytes: UInt64 = 0

    init(model: String) { self.model = model }
}

/// Counts by model; belongs to the library.
struct LibraryCounters: Sendable {
    private(set) var models: [String: ModelMetrics] = [:]

    mutating func noteLoad(_ record: LoadRecord) {
        change(record.model) { metrics in
            metrics.loads += 1
            metrics.loadSeconds += record.took.inSeconds
            metrics.slowestLoad = max(metrics.slowestLoad, record.took.inSeconds)
            if let before = record.before, let after = record.after {
                metrics.bytes = after.anonymous - min(after.anonymous, before.anonymous)
            }
        }
    }

    mutating func noteRefusal(of model: String) { change(model) { $0.refusals += 1 } }

    mutating func noteEviction(of model: String, _ reason: EvictionReason) {
        change(model) { $0.evictions[reason.name, default: 0] += 1 }
    }

    /// With what the table of lent models counts.
    func all(with uses: [ModelName: LendingTable.Uses]) -> [ModelMetrics] {
        var counters = self
        for (name, uses) in uses {
            counters.change(name.description) { metrics in
                metrics.requests = uses.hits
                metrics.inferences = uses.runs
                metrics.inferenceFailures = uses.failures
            }
        }
        return counters.models.values.sorted { $0.model < $1.model }
    }

    mutating func change(_ model: String, _ edit: (inout ModelMetrics) -> Void) {
        edit(&models[model, default: ModelMetrics(model: model)])
    }
}
