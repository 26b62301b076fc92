import Blocking
import Inference
package import Names

/// Events and metrics.
extension ModelLibrary {
    /// What the library does from now on.
    ///
    /// - Returns: A stream for one listener; of those that it is slow to take
    ///   the newest 256 are kept. It ends with the library, which it does not keep.
    public func events() -> AsyncStream<ModelLibraryEvent> {
        let listener = nextNumber()
        let (stream, continuation) = AsyncStream.makeStream(
            of: ModelLibraryEvent.self,
            bufferingPolicy: .bufferingNewest(256)
        )
        continuation.onTermination = { [weak self] _ in
            Task { [weak self] in await self?.forget(listener) }
        }
        listeners[listener] = continuation
        return stream
    }

    private func forget(_ listener: Int) { listeners[listener] = nil }

    func tell(_ event: ModelLibraryEvent) {
        switch event {
        case .refused(let model, let version, let reason): refusals[model, default: [:]][version] = reason
        case .loaded(let load): refusals[load.model]?[load.version] = nil
        default: break
        }
        for listener in listeners.values { listener.yield(event) }
    }

    /// What each model has cost and given, in the order of names.
    public func metrics() -> [ModelMetrics] {
        counters.all(with: table.change { $0.uses })
    }

    /// The versions of a model that could not be loaded when they were last asked for, each with its reason.
    package func passedOver(_ name: ModelName) -> [(version: String, reason: String)] {
        (refusals[name.description] ?? [:]).map { (version: $0.key, reason: $0.value) }
            .sorted { $0.version < $1.version }
    }

    /// The metrics and what is in memory, as Prometheus reads them.
    public func prometheusText() -> String { PrometheusText.text(metrics(), residents) }

    nonisolated func noteRun(of model: ModelName) {
        table.change { $0.uses[model, default: LendingTable.Uses()].runs += 1 }
    }

    func noteFailure(of version: LibraryVersion, _ error: any Error) {
        table.change { $0.uses[version.model, default: LendingTable.Uses()].failures += 1 }
        tell(.inferenceFailed(model: version.modelText, version: version.versionText, reason: "\(error)"))
    }

    /// What the system says of memory now.
    public func memoryState() async -> MemoryState {
        let probe = probe
        return await LibraryThreads.memory.run { probe.state() }
    }
}

/// The text format of Prometheus, version 0.0.4: a name, labels, a number.
enum PrometheusText {
    static func text(_ metrics: [ModelMetrics], _ residents: [ResidentModel]) -> String {
        var text = ""
        func family(_ name: String, _ kind: String, _ help: String, _ rows: [(labels: String, value: String)])
        {
            guard !rows.isEmpty else { return }
            text += "# HELP sealift_library_\(name) \(help)\n# TYPE sealift_library_\(name) \(kind)\n"
            for row in rows { text += "sealift_library_\(name){\(row.labels)} \(row.value)\n" }
        }
        func counter(_ name: String, _ help: String, _ value: (ModelMetrics) -> UInt64) {
            family(name, "counter", help, metrics.map { ("model=\"\($0.model)\"", "\(value($0))") })
        }
        counter("requests_total", "Requests that got a model.") { $0.requests }
        counter("inferences_total", "Calls that gave an answer.") { $0.inferences }
        counter("inference_failures_total", "Calls that failed in the runtime.") { $0.inferenceFailures }
        counter("loads_total", "Loads that succeeded.") { $0.loads }
        counter("load_failures_total", "Loads that were refused or failed.") { $0.refusals }
        family(
            "load_seconds_total",
            "counter",
            "Seconds of all loads together.",
            metrics.map { ("model=\"\($0.model)\"", "\($0.loadSeconds)") }
        )
        family(
            "evictions_total",
            "counter",
            "Times that a version left memory.",
            metrics.flatMap { metrics in
                metrics.evictions.sorted { $0.key < $1.key }.map { reason, count in
                    ("model=\"\(metrics.model)\",reason=\"\(reason)\"", "\(count)")
                }
            }
        )
        family(
            "resident_bytes",
            "gauge",
            "Bytes that the load of a model in memory took.",
            residents.map { resident in
                let labels = [
                    ("model", resident.model), ("version", resident.version), ("variant", resident.variant),
                    ("options", resident.options.description),
                ]
                return (labels.map { "\($0)=\"\($1)\"" }.joined(separator: ","), "\(resident.bytes)")
            }
        )
        return text
    }
}
