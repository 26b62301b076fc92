import Arguments
import CanonicalJSON
import Names
import SyncAgent

/// Says that the active version of a model works.
struct Confirm: Command {
    static let spec = CommandSpec(
        name: "confirm",
        summary: "Say that the active version of a model works",
        positions: [.required("NS/MODEL")],
        options: [SharedOption.directory, SharedOption.json],
        example: "sealift confirm vision/detector --directory models",
        discussion:
            "For models synced with --confirm: a version that its app does not confirm in time is left again for "
            + "the last good one."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let version = try Device.synced(arguments).confirm("\(try Device.model(arguments))")
        VersionReport.tell([version], arguments) { "\($0.model) \($0.version) is confirmed" }
        return .done
    }
}

/// Goes back to the versions before the active generation.
struct Rollback: Command {
    static let spec = CommandSpec(
        name: "rollback",
        summary: "Go back to the versions that ran before, and do not take these again",
        options: [SharedOption.directory, SharedOption.reason, SharedOption.json],
        example: "sealift rollback --directory models --reason 'wrong labels in the field'",
        discussion:
            "One rename, also on a full disk, without a network. What the device leaves is quarantined: no sync takes "
            + "it again until ‘sealift quarantine clear’. A newer version is taken as always."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let left = try Device.synced(arguments).rollback(reason: try Words.reason(arguments))
        guard !arguments.has("json") else {
            let values = left.map {
                JSONValue.members([
                    "model": .text($0.model), "version": .text($0.version), "reason": .text($0.reason),
                    "active": .text(orNull: $0.active),
                ])
            }
            Output.result(bytes: JSONReport(["versions": .array(values)]).bytes)
            return .done
        }
        for model in left {
            let now = model.active.map { "\($0) is active now" } ?? "no version of it is active now"
            Output.result("\(model.model) \(model.version) was left and is quarantined; \(now)")
        }
        return .done
    }
}

/// Keeps a model at one version.
struct Pin: Command {
    static let spec = CommandSpec(
        name: "pin",
        summary: "Keep a model at one version, whatever its channel lists",
        positions: [.required("NS/MODEL"), .required("VERSION")],
        options: [SharedOption.directory],
        example: "sealift pin vision/detector 1.0.0 --directory models",
        discussion:
            "Counts from the next sync on. A recall, a denial, a floor and the quarantine go before a pin; a version "
            + "lower than the active one is taken only if this device ran it before. What is neither on the device nor "
            + "released, as far as the last sync knows, is refused."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Device.model(arguments)
        let version = try Words.version(arguments.positions[1])
        let pinned = try Device.synced(arguments).pin("\(model)", to: "\(version)")
        if pinned == .untold {
            Output.note("nothing on this device says whether there is a version \(version) of \(model)")
        }
        if case .lower(let active) = pinned {
            Output.result(
                "\(model) is pinned to \(version), which is lower than the active \(active) and never ran on this device: "
                    + "no sync goes back to it unless that is signed (‘sealift channel set \(model) CHANNEL \(version)’). "
                    + "Until then \(active) stays and nothing newer is taken; ‘sealift unpin \(model)’ takes the pin back"
            )
            return .done
        }
        Output.result("\(model) is pinned to \(version) from the next sync on")
        return .done
    }
}

/// Lets a model move again.
struct Unpin: Command {
    static let spec = CommandSpec(
        name: "unpin",
        summary: "Let a pinned model follow its channel again",
        positions: [.required("NS/MODEL")],
        options: [SharedOption.directory],
        example: "sealift unpin vision/detector --directory models"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Device.model(arguments)
        let version = try Device.synced(arguments).unpin("\(model)")
        Output.result(version.map { "\(model) is not pinned to \($0) any more" } ?? "\(model) was not pinned")
        return .done
    }
}

/// Shows what a device does not take again.
struct QuarantineList: Command {
    static let spec = CommandSpec(
        name: "quarantine list",
        summary: "Show the versions that a device does not take again",
        options: [SharedOption.directory, SharedOption.json],
        example: "sealift quarantine list --directory models"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let versions = try Device.synced(arguments).quarantine()
        VersionReport.tell(versions, arguments) { "\($0.model) \($0.version): \($0.reason)" }
        return .done
    }
}

/// Lets quarantined versions be taken again.
struct QuarantineClear: Command {
    static let spec = CommandSpec(
        name: "quarantine clear",
        summary: "Let quarantined versions be taken again",
        positions: [.optional("NS/MODEL")],
        options: [SharedOption.directory],
        example: "sealift quarantine clear vision/detector --directory models",
        discussion:
            "Golden vectors that were begun and never came to an end are begun at once after it too, of whatever model."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try arguments.position(0).map { try Words.model($0).description }
        let count = try Device.synced(arguments).clearQuarantine(model)
        Output.result(
            "\(count) \(count == 1 ? "version" : "versions") may be taken again from the next sync on"
        )
        return .done
    }
}

/// Versions for people, a line each, or for programs.
enum VersionReport {
    static func tell(
        _ versions: [SyncedDevice.Version],
        _ arguments: ParsedArguments,
        _ line: (SyncedDevice.Version) -> String
    ) {
        guard arguments.has("json") else {
            for version in versions { Output.result(line(version)) }
            return
        }
        let values = versions.map {
            JSONValue.members([
                "model": .text($0.model), "version": .text($0.version), "reason": .text($0.reason),
            ])
        }
        Output.result(bytes: JSONReport(["versions": .array(values)]).bytes)
    }
}
