import Arguments
import CanonicalJSON
import Durable
import Generations
import Inference
import Manifest
import ModelLibrary
import ModelRuntimes
import Names

/// Runs the active version of a model once.
struct Infer: Command {
    static let spec = CommandSpec(
        name: "infer",
        summary: "Run the active version of a model on an input",
        positions: [.required("NS/MODEL")],
        options: [
            SharedOption.directory,
            .value("input", "FILE.json", "the inputs, by name; ‘-’ reads standard input"),
            .value("record", "FILE", "keep what the load took here, for ‘library status’"), SharedOption.json,
        ],
        example: "sealift infer vision/detector --directory models --input input.json",
        discussion:
            "FILE.json is an object with one member for each input: nested lists of numbers such as "
            + "{\"x\": [[1, 2, 3, 4]]}, or {\"type\": …, \"shape\": […], \"data\": […]}. ‘sealift inspect’ shows "
            + "what a model takes. Where the active version cannot be used and the one before it answers, that is "
            + "said, and the exit code is 3. A person looks here: it is no start of an app and confirms nothing. "
            + "Outputs of more than 64 MiB are refused. ONNX Runtime is looked for in SEALIFT_ORT_LIBRARY, "
            + "SEALIFT_ORT_DIR, VIRTUAL_ENV and the system's libraries."
    )

    /// Numbers that are written as text take many times their bytes.
    private static let outputs = OutputPolicy(maximumBytes: 64 << 20)

    /// Of an output that is shown to a person.
    private static let shownLength = 2_000

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Device.model(arguments)
        guard let file = arguments["input"] else {
            throw UsageError.refused("say what goes in: --input FILE.json")
        }
        let bytes = try DocumentFile.bytes(file, maximum: ByteCount(TensorJSON.maximumLength), orInput: true)
        try checkFormat(try Device.activeModel(arguments))
        var configuration = LibraryConfiguration()
        configuration.recordFile = arguments["record"]
        configuration.outputPolicy = outputs
        if let record = arguments["record"] { try LibraryRecord.check(record) }
        configuration.quarantinesFailures = false
        // As ‘run’ tells a library that a start was counted already: a look by a person is none.
        CountedStart.note(model)
        let library = ModelLibrary(
            directory: try Device.path(arguments),
            runtimes: [try await ONNXRuntime()],
            configuration: configuration
        )
        let answer: InferAnswer
        do {
            answer = try await library.withModel(try ModelRequest("\(model)")) { lease in
                let inputs = try inputs(bytes, of: file, for: lease.ports)
                let outputs = try await lease.run(inputs)
                return InferAnswer(
                    model: lease.model,
                    version: lease.version,
                    variant: lease.variant,
                    outputs: outputs
                )
            }
        } catch {
            await library.saveRecord()
            throw error
        }
        await library.saveRecord()
        var passedOver = await library.passedOver(model).filter { $0.version != answer.version }
        // One that was recalled meanwhile is no reason to lose the answer.
        let active = (try? Device.activeModel(arguments))?.version.description
        if let active, passedOver.isEmpty, active != answer.version {
            passedOver = [(version: active, reason: "it is active and did not answer")]
        }
        if arguments.has("json") {
            answer.writeJSON(passedOver)
        } else {
            answer.show(upTo: shownLength)
        }
        for version in passedOver {
            let place = "\(answer.version), the version before it, answered"
            Output.note("\(model) \(version.version) was passed over: \(version.reason); \(place)")
        }
        if let failure = await library.recordFailure {
            Output.note("sealift: \(failure)")
            return Failure(describing: failure).code
        }
        return passedOver.isEmpty ? .done : .nothingUsable
    }

    /// Before a runtime is looked for, which would not run it anyway.
    private static func checkFormat(_ active: ActiveModel) throws {
        guard let format = active.manifest[active.variant]?.format, format != .onnx else { return }
        throw Failure(
            code: .runtimeMissing,
            "\(active.name) \(active.version) is \(format.rawValue), and ‘infer’ runs ONNX models alone; ‘sealift path "
                + "\(active.name)’ prints its file for a program that runs such models"
        )
    }

    private static func inputs(
        _ bytes: [UInt8],
        of file: String,
        for ports: ModelPorts
    ) throws -> [String: Tensor] {
        do { return try TensorJSON.inputs(bytes, for: ports) } catch {
            throw Failure(.usage, "\(file): \(error)")
        }
    }
}

/// What a model gave, and which version of it.
private struct InferAnswer: Sendable {
    let model: String
    let version: String
    let variant: String
    let outputs: [String: ModelValue]

    /// One document, keys sorted, written as it is made.
    func writeJSON(_ passedOver: [(version: String, reason: String)]) {
        let rows = passedOver.map { row in
            JSONValue.members(["reason": .text(row.reason), "version": .text(row.version)])
        }
        let (before, after) = (
            JSONReport(["model": .text(model)]).bytes,
            JSONReport([
                "passed_over": .array(rows), "variant": .text(variant), "version": .text(version),
            ]).bytes
        )
        Output.result(piece: before.dropLast() + Array(",\"outputs\":".utf8))
        TensorJSON.write(outputs) { piece in
            Output.result(piece: piece)
            return Output.failure == nil
        }
        Output.result(bytes: [UInt8(ascii: ",")] + after.dropFirst())
    }

    /// Each output on a line, as far as a person reads.
    func show(upTo length: Int) {
        Output.note("\(model) \(version) (\(variant))")
        for (name, value) in outputs.sorted(by: { $0.key < $1.key }) {
            let (text, isWhole) = TensorJSON.beginning(of: [name: value], length: length)
            Output.result(isWhole ? text : "\(text)…")
        }
    }
}
