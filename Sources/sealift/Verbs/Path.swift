import Arguments
import CanonicalJSON
import Generations
import Manifest
import Names
import SyncAgent

/// Prints where the active version lies, for programs in any language.
struct Path: Command {
    static let spec = CommandSpec(
        name: "path",
        summary: "Print the real path of a model's active version",
        positions: [.required("NS/MODEL")],
        options: [
            SharedOption.directory,
            .value("file", "F", "a file of the version; what a runtime opens unless given"),
            .flag("dir", "the directory that holds the version's files, and nothing else"),
            SharedOption.json,
        ],
        example: "sealift path vision/detector --directory models",
        discussion:
            "Resolved once: the path keeps naming the same bytes when another version is activated. What a runtime "
            + "opens is a package's folder, the index of a model in several safetensors files, else the model's file."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let active = try Device.activeModel(arguments)
        guard !arguments.has("dir") || arguments["file"] == nil else {
            throw UsageError.refused("give one of --dir and --file")
        }
        let whole = arguments.has("dir") ? active.directory : active.openedPath
        let path = try arguments["file"].map { try Self.path(of: $0, in: active) } ?? whole
        guard arguments.has("json") else {
            Output.result(bytes: Array(path.utf8))
            return .done
        }
        let report = JSONReport([
            "model": .text(active.name.description), "version": .text(active.version.description),
            "variant": .text(active.variant.description), "manifest": .text(active.manifestDigest.hex),
            "directory": .text(active.directory), "path": .text(path),
        ])
        Output.result(bytes: report.bytes)
        return .done
    }

    private static func path(of text: String, in active: ActiveModel) throws -> String {
        guard let file = FilePath(text) else {
            throw UsageError.badValue(text, of: "--file", expected: "a relative path inside the version")
        }
        guard let variant = active.manifest[active.variant],
            variant.files.contains(where: { $0.path == file })
        else {
            throw Failure(.usage, "\(active.name) \(active.version) has no file ‘\(file)’")
        }
        return active.path(of: file)
    }
}

/// What the commands on a device share: which directory, and which model.
enum Device {
    static func path(_ arguments: ParsedArguments) throws(UsageError) -> String {
        guard let path = arguments["directory"] else {
            throw .refused("say where the device keeps its models: --directory DIR")
        }
        return path
    }

    static func model(_ arguments: ParsedArguments) throws(UsageError) -> ModelName {
        guard let text = arguments.position(0), let name = ModelName(text) else {
            throw .badValue(arguments.position(0) ?? "", of: "the model", expected: "NAMESPACE/MODEL")
        }
        return name
    }

    /// The device as its operator sees it.
    static func synced(_ arguments: ParsedArguments) throws -> SyncedDevice {
        try SyncedDevice(directory: try path(arguments))
    }

    /// The same, with the directory of an agent.json where no option names one.
    static func synced(
        _ arguments: ParsedArguments,
        or configured: SyncConfiguration?
    ) throws -> SyncedDevice {
        guard arguments["directory"] == nil, let configured, !configured.directory.isEmpty else {
            return try synced(arguments)
        }
        return try SyncedDevice(directory: configured.directory)
    }

    /// The active version, unless it may not be used now.
    static func activeModel(_ arguments: ParsedArguments) throws -> ActiveModel {
        let name = try model(arguments)
        let device = try DeviceDirectory.open(try path(arguments))
        let active = try device.activeModel(name)
        if let obstacle = try device.obstacle(to: active.manifestDigest) {
            throw Failure(.refused, "\(name) \(active.version): \(obstacle)")
        }
        return active
    }
}
