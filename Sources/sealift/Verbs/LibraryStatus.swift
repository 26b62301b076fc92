import Arguments
import CanonicalJSON
import ModelLibrary
import Names

/// Shows what models have cost in memory and time, and what an app should do about it.
struct LibraryStatus: Command {
    static let spec = CommandSpec(
        name: "library status",
        summary: "Show memory, measured use of models, and what to preload",
        options: [
            .value("record", "FILE", "the record that an app's library keeps"),
            .flag("suggest", "say what to preload and what to pin"), SharedOption.json,
        ],
        example: "sealift library status --record library.json --suggest",
        discussion:
            "An app's ModelLibrary keeps a record where its configuration says, ‘sealift infer’ where --record "
            + "says. Without one only this machine's memory is shown. A pin is proposed for what is loaded again "
            + "within a run; each ‘infer’ is a run of its own."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let memory = LinuxMemoryProbe().state()
        let record = try arguments["record"].flatMap { file throws(LibraryRecordError) in
            try LibraryRecord.load(file)
        }
        if let file = arguments["record"], record == nil {
            Output.note("\(file) is not there yet, is empty, or is damaged: the next save writes it anew")
        }
        let models = record?.models ?? []
        let advice = arguments.has("suggest") ? LibrarySuggestion.advice(models) : []
        guard !arguments.has("json") else {
            Output.result(bytes: report(memory, models, advice).bytes)
            return .done
        }
        let left = memory.available.map { "\(ByteCount(rawValue: $0))" } ?? "an unknown amount"
        let most = memory.limit.map { " of \(ByteCount(rawValue: $0))" } ?? ""
        Output.result("memory: \(left)\(most) available by \(memory.source); a \(DeviceClass(memory)) device")
        if models.isEmpty { Output.result("no use recorded") }
        for model in models {
            let mean = model.loads > 0 ? "\(model.loadMilliseconds / model.loads) ms" : "never"
            Output.result(
                "  \(model.model): \(model.requests) requests, \(model.loads) loads (\(mean) each), "
                    + "\(ByteCount(Int(clamping: model.bytes))) measured, \(model.failures) failures"
            )
        }
        for advice in advice { Output.result("\(advice.action) \(advice.model): \(advice.reason)") }
        if arguments.has("suggest"), advice.isEmpty { Output.result("nothing to suggest") }
        return .done
    }

    private static func report(
        _ memory: MemoryState,
        _ models: [LibraryRecord.Model],
        _ advice: [LibrarySuggestion.Advice]
    ) -> JSONReport {
        let rows = models.map { model in
            JSONValue.members([
                "model": .text(model.model), "requests": .integer(model.requests),
                "runs": .integer(model.runs), "loads": .integer(model.loads),
                "load_milliseconds": .integer(model.loadMilliseconds),
                "failures": .integer(model.failures), "bytes": .integer(model.bytes),
            ])
        }
        let suggestions = advice.map { advice in
            JSONValue.members([
                "action": .text(advice.action), "model": .text(advice.model), "reason": .text(advice.reason),
            ])
        }
        return JSONReport([
            "device_class": .text(DeviceClass(memory).rawValue),
            "memory": .members([
                "available": memory.available.map { .integer(Int64(clamping: $0)) } ?? .null,
                "limit": memory.limit.map { .integer(Int64(clamping: $0)) } ?? .null,
                "source": .text(memory.source),
            ]),
            "models": .array(rows), "suggestions": .array(suggestions),
        ])
    }
}
