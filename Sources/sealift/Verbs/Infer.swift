import Arguments
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
            SharedOption.directory, .value("input", "FILE.json", "the inputs, by name"),
            .value("record", "FILE", "keep what the load took here, for ‘library status’"), SharedOption.json,
        ],
        example: "sealift infer vision/detector --directory models --input input.json",
        discussion:
            "FILE.json is an object with one member for each input: nested lists of numbers such as "
            + "{\"x\": [[1, 2, 3, 4]]}, or {\"type\": …, \"shape\": […], \"data\": […]}. ‘sealift inspect’ shows "
            + "what a model takes. ONNX Runtime is looked for in SEALIFT_ORT_LIBRARY, SEALIFT_ORT_DIR, "
            + "VIRTUAL_ENV and the system's libraries."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Device.model(arguments)
        guard let file = arguments["input"] else {
            throw UsageError.refused("say what goes in: --input FILE.json")
        }
        let bytes = try Durable.readFile(file, maximum: ByteCount(TensorJSON.maximumLength))
        try checkFormat(try Device.activeModel(arguments))
        var configuration = LibraryConfiguration()
        configuration.recordFile = arguments["record"]
        let library = ModelLibrary(
            directory: try Device.path(arguments),
            runtimes: [try await ONNXRuntime()],
            configuration: configuration
        )
        let outputs = try await library.withModel(try ModelRequest("\(model)")) { lease in
            let inputs = try inputs(bytes, of: file, for: lease.ports)
            let outputs = try await lease.run(inputs)
            if !arguments.has("json") { Output.note("\(lease.model) \(lease.version) (\(lease.variant))") }
            return outputs
        }
        if arguments.has("json") {
            Output.result(bytes: TensorJSON.text(of: outputs))
        } else {
            for (name, value) in outputs.sorted(by: { $0.key < $1.key }) {
                let text = String(decoding: TensorJSON.text(of: [name: value]), as: UTF8.self)
                Output.result(text.count > 2_000 ? "\(text.prefix(2_000))…" : text)
            }
        }
        return .done
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
