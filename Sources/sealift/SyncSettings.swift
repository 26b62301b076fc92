import Arguments
import CanonicalJSON
import Durable
import Names
import Publishing
import SyncAgent

/// What a `sync` is to do: defaults, then the configuration file, then environment, then options; and where each
/// setting comes from.
struct SyncSettings {
    /// One setting as `config` shows it.
    struct Row {
        let name: String
        let value: String?
        let origin: String
    }

    private(set) var configuration = SyncConfiguration(
        directory: "",
        registries: [],
        rootFile: "",
        models: []
    )
    private var origins: [String: String] = [:]

    /// - Parameters:
    ///   - arguments: The call.
    ///   - context: Its environment.
    ///   - findsRuntimes: Whether to look for a runtime that was not named.
    /// - Throws: `Failure`, `UsageError` or `SyncError`, naming the setting.
    init(_ arguments: ParsedArguments, _ context: Context, findsRuntimes: Bool = true) throws {
        try readFile(arguments, context)
        for setting in AgentSetting.allCases {
            guard let text = arguments[setting.option] else { continue }
            let place = "--\(setting.option)"
            do throws(SyncError) { try configuration.set(setting, text, at: place) } catch {
                throw UsageError.badValue(text, of: place, expected: setting.expected)
            }
            origins[setting.rawValue] = arguments.origin(of: setting.option)
        }
        let registries = arguments.all("registry")
        if !registries.isEmpty {
            configuration.registries = registries
            origins["registries"] = arguments.origin(of: "registry")
        }
        let windows = arguments.all("window")
        if !windows.isEmpty {
            configuration.windows = try windows.map { text in
                guard let window = try? TransferWindow(text) else {
                    throw UsageError.badValue(text, of: "--window", expected: "hours such as 22:00-06:00")
                }
                return window
            }
            origins["window"] = arguments.origin(of: "window")
        }
        let models = arguments.all("model")
        if !models.isEmpty {
            configuration.models = try models.map { try WantedModel($0) }
            origins["models"] = arguments.origin(of: "model")
        }
        try readModelOptions(arguments)
        configuration.allowsPlainLoopback = arguments.has("allow-plain-loopback")
        // This very program, also when the file was replaced by a newer one meanwhile.
        configuration.readerProgram = "/proc/self/exe"
        configuration.checkProgram = "/proc/self/exe"
        if findsRuntimes {
            let found = try DeviceRuntimes.found(arguments, library: configuration.runtimeLibrary)
            configuration.runtimes = found.runtimes
            configuration.runtimeLibrary = found.library
        }
    }

    /// The `agent.json` that a call names, or that stands in the place of the client's configuration.
    ///
    /// - Returns: `nil` when what is there is a client's, or nothing is.
    static func agentFile(_ arguments: ParsedArguments, _ context: Context) throws -> AgentFile? {
        let path = Self.path(arguments, context)
        let bytes: [UInt8]?
        do throws(DurableError) {
            bytes = try Durable.readFileIfPresent(path, maximum: AgentFile.maximumLength)
        } catch {
            throw AgentFile.unreadable(error)
        }
        if arguments["config"] != nil,
            bytes.map({ !AgentFile.claims($0) && !ClientConfiguration.claims($0) }) ?? true
        {
            throw Self.notAConfiguration(path, bytes)
        }
        guard let bytes, AgentFile.claims(bytes) else { return nil }
        return try AgentFile(path: path)
    }

    private static func path(_ arguments: ParsedArguments, _ context: Context) -> String {
        context.absolute(arguments["config"] ?? context.configurationDirectory + "/client.json")
    }

    /// Takes an `agent.json`, or what a `client.json` says that a device can use.
    private mutating func readFile(_ arguments: ParsedArguments, _ context: Context) throws {
        let path = Self.path(arguments, context)
        if let file = try Self.agentFile(arguments, context) {
            configuration = file.configuration
            for name in file.given { origins[name] = path }
            return
        }
        let session = try ClientSession(arguments, context)
        configuration.registries = session.registries
        configuration.rootFile = session.configuredRoot ?? ""
        configuration.caFile = session.configuredCA
        if !session.registries.isEmpty { origins["registries"] = path }
        if session.configuredRoot != nil { origins["root"] = path }
        if session.configuredCA != nil { origins["ca"] = path }
    }

    /// Why a file that was named is neither of the two that a device takes.
    private static func notAConfiguration(_ path: String, _ bytes: [UInt8]?) -> Failure {
        let kinds =
            "expected an agent.json, which ‘sealift schema agent’ describes, or the client.json that ‘sealift init’ "
            + "wrote"
        guard let bytes else { return Failure(code: .place, "\(path) is not there; \(kinds)") }
        var found = "its ‘type’ is neither ‘\(AgentFile.type)’ nor ‘\(ClientConfiguration.type)’"
        do {
            _ = try JSONParser.parse(bytes, maximumLength: Int(AgentFile.maximumLength.rawValue))
        } catch { found = AgentFile.foreignEncoding(bytes) ?? "\(error)" }
        return Failure(code: .configuration, "\(path): \(found); \(kinds)")
    }

    /// Options that say something of one of the models.
    private mutating func readModelOptions(_ arguments: ParsedArguments) throws {
        try forModels("expectation", "FILE", arguments) { model, file in
            model.readExpectation(file, namedBy: "--expectation")
        }
        try forModels("floor", "VERSION", arguments) { $0.floor = try Words.version($1) }
        try forModels("group", "NAME", arguments) { $0.group = $1 }
        try forModels("confirm", "STARTS/TIME", arguments) { model, bounds in
            guard let confirmation = WantedModel.Confirmation(written: bounds) else {
                throw UsageError.badValue(
                    bounds,
                    of: "--confirm",
                    expected: WantedModel.Confirmation.expected
                )
            }
            model.confirmation = confirmation
        }
        if let text = arguments["wait"] {
            configuration.lockPatience = try Words.duration(text, of: "--wait")
        }
    }

    private mutating func forModels(
        _ option: String,
        _ value: String,
        _ arguments: ParsedArguments,
        _ set: (inout WantedModel, String) throws -> Void
    ) throws {
        var seen: Set<Substring> = []
        for text in arguments.all(option) {
            let halves = text.split(separator: "=", maxSplits: 1)
            guard halves.count == 2,
                let index = configuration.models.firstIndex(where: { $0.model == halves[0] })
            else {
                throw UsageError.badValue(
                    text,
                    of: "--\(option)",
                    expected: "NS/MODEL=\(value) of a model given"
                )
            }
            guard seen.insert(halves[0]).inserted else {
                throw UsageError.refused("--\(option) is given twice for \(halves[0]); give it once")
            }
            try set(&configuration.models[index], String(halves[1]))
        }
    }

    /// Every setting, in the order of the documentation.
    var rows: [Row] {
        var rows = AgentSetting.allCases.map { setting in
            row(setting.rawValue, configuration.text(of: setting))
        }
        rows.append(row("registries", list(configuration.registries)))
        rows.append(row("models", list(configuration.models.map(Self.text))))
        rows.append(row("window", list(configuration.windows.map(\.description))))
        rows.append(row("receipts", configuration.sendsReceipts ? "true" : "false"))
        let tags = configuration.tags.sorted { $0.key < $1.key }
        rows.append(row("tags", list(tags.map { "\($0.key)=\($0.value)" })))
        return rows
    }

    private func row(_ name: String, _ value: String?) -> Row {
        Row(name: name, value: value, origin: origins[name] ?? (value == nil ? "not set" : "default"))
    }

    private func list(_ values: [String]) -> String? { values.isEmpty ? nil : values.joined(separator: ", ") }

    private static func text(_ model: WantedModel) -> String {
        var words = ["\(model)"]
        if let variant = model.variant { words.append("variant \(variant)") }
        if let fault = model.fault {
            words.append("takes no other version: \(fault.message)")
        } else if model.expectation != nil {
            words.append("with an expectation")
        }
        if let floor = model.floor { words.append("from \(floor) up") }
        if let group = model.group { words.append("in group \(group)") }
        if case .app(let starts, let seconds) = model.confirmation {
            words.append("confirmed within \(starts)/\(WrittenTime.text(seconds))")
        }
        return words.joined(separator: " ")
    }
}
