import CanonicalJSON
package import Durable
import Manifest
package import Names

/// `agent.json` (`sealift/agent@1`): what one device syncs.
///
/// Any layout of JSON; it is not signed. Paths are absolute or relative to the
/// file's own folder. It holds no secret: a token is named by path. A key that
/// is not known, or stands twice, is refused with its path.
package struct AgentFile: Sendable {
    package static let type = "sealift/agent@1"
    package static let maximumLength = ByteCount.mebibytes(1)

    /// What it says, over the defaults; not yet checked for what is missing.
    package private(set) var configuration = SyncConfiguration(
        directory: "",
        registries: [],
        rootFile: "",
        models: []
    )

    /// The settings that it has, by the names of its keys.
    package private(set) var given: Set<String>

    private static let keys =
        ["type"] + AgentSetting.allCases.map(\.rawValue) + [
            "registries", "models", "window", "receipts", "tags",
        ]
    private static let modelKeys = [
        "model", "channel", "version", "expectation", "variant", "floor", "group", "confirm",
    ]

    /// Whether bytes say that they are such a document, so that one option can take several kinds of file.
    package static func claims(_ bytes: [UInt8]) -> Bool {
        // Also one that is not in order, so that its own reader says why.
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains("\"sealift/agent@")
    }

    /// Reads a file.
    ///
    /// - Throws: `SyncError` of kind `usage`, naming the file and the key.
    package init(path: String) throws(SyncError) {
        let bytes: [UInt8]
        do throws(DurableError) { bytes = try Durable.readFile(path, maximum: Self.maximumLength) } catch {
            throw Self.unreadable(error)
        }
        do throws(SyncError) { try self.init(bytes, folder: Durable.parent(of: path)) } catch {
            throw SyncError(
                code: error.errorCode,
                "\(path): \(error.message); ‘sealift schema agent’ describes the file"
            )
        }
    }

    /// What cannot be read as a configuration is a fault of the configuration.
    package static func unreadable(_ error: DurableError) -> SyncError {
        let code: ErrorCode = error.isAbsent ? .place : error.isOfContent ? .configuration : error.code
        return SyncError(code: code, error.description)
    }

    /// The encoding of bytes that are no plain UTF-8, by their first ones; `nil` when they may be.
    package static func foreignEncoding(_ bytes: [UInt8]) -> String? {
        let name: String
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            name = "UTF-8 with a byte order mark"
        } else if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
            || bytes.count > 1 && (bytes[0] == 0 || bytes[1] == 0)
        {
            name = "UTF-16 or UTF-32"
        } else {
            return nil
        }
        return "it is written in \(name); save it as UTF-8 without a byte order mark"
    }

    /// Reads a file's bytes.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - folder: The folder of the file, for relative paths.
    /// - Throws: `SyncError` of kind `usage`, naming the key.
    package init(_ bytes: [UInt8], folder: String) throws(SyncError) {
        if let encoding = Self.foreignEncoding(bytes) { throw SyncError(code: .configuration, encoding) }
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes, maximumLength: Int(Self.maximumLength.rawValue))
        } catch {
            guard error.reason == .duplicateKey, let key = error.member else {
                throw SyncError(code: .configuration, "\(error)")
            }
            throw SyncError(code: .configuration, "the key ‘\(key)’ stands there twice")
        }
        let reader = try AgentReader(value, at: "", known: Self.keys)
        guard reader.value("type")?.string == Self.type else {
            throw SyncError(code: .configuration, "its ‘type’ is not ‘\(Self.type)’")
        }
        given = Set(value.object?.keys ?? []).subtracting(["type"])
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(folder)/\(path)" }
        for setting in AgentSetting.allCases {
            guard let text = try Self.text(of: setting, reader) else { continue }
            try configuration.set(
                setting,
                setting.isPath ? absolute(text) : text,
                at: setting.rawValue
            )
        }
        configuration.registries = try reader.texts("registries")
        for (value, path) in try reader.list("window") {
            guard let window = value.string.flatMap({ try? TransferWindow($0) }) else {
                throw AgentReader.fault(path, expected: "hours such as 22:00-06:00", value)
            }
            configuration.windows.append(window)
        }
        configuration.sendsReceipts = try reader.flag("receipts") ?? false
        configuration.tags = try reader.textsByName("tags")
        for (value, path) in try reader.list("models") {
            let model = try AgentReader(value, at: path, known: Self.modelKeys)
            configuration.models.append(try Self.model(model, absolute))
        }
    }

    /// Numbers where a number is meant, text as on the command line for the rest.
    private static func text(of setting: AgentSetting, _ reader: AgentReader) throws(SyncError) -> String? {
        switch setting {
        case .retries:
            return try reader.integer(setting.rawValue, in: 1...1_000).map(String.init)
        default: return try reader.text(setting.rawValue)
        }
    }

    private static func model(
        _ reader: AgentReader,
        _ absolute: (String) -> String
    ) throws(SyncError) -> WantedModel {
        func parsed<Value>(
            _ key: String,
            _ expected: String,
            _ parse: (String) -> Value?
        ) throws(SyncError) -> Value? {
            guard let text = try reader.text(key) else { return nil }
            guard let value = parse(text) else { throw reader.fault(key, expected, .text(text)) }
            return value
        }
        guard let name = try parsed("model", "NAMESPACE/MODEL", { ModelName($0) }) else {
            throw SyncError(code: .configuration, "‘\(reader.place("model"))’ is missing")
        }
        let channel = try parsed("channel", "a channel such as stable") { ChannelName($0) }
        let version = try parsed("version", "a version such as 1.4.0") { ModelVersion($0) }
        var selection = try WantedModel("\(name)").selection
        if let channel { selection = .channel(channel) }
        if let version {
            guard channel == nil else {
                throw SyncError(
                    code: .configuration,
                    "‘\(reader.path)’ has both a channel and a version; give one"
                )
            }
            selection = .version(version)
        }
        var model = WantedModel(name: name, selection: selection)
        model.variant = try parsed("variant", "the name of a variant") { VariantName($0) }
        model.floor = try parsed("floor", "a version such as 1.4.0") { ModelVersion($0) }
        model.group = try reader.text("group")
        if let confirmation = try parsed(
            "confirm",
            WantedModel.Confirmation.expected,
            WantedModel.Confirmation.init(written:)
        ) {
            model.confirmation = confirmation
        }
        if let file = try reader.text("expectation") {
            model.readExpectation(
                absolute(file),
                namedBy: "‘\(reader.place("expectation"))’ of the agent.json"
            )
        }
        return model
    }
}

extension SyncConfiguration {
    /// Reads an `agent.json`.
    ///
    /// - Parameter path: The file; relative paths in it are below its folder.
    /// - Throws: `SyncError` of kind `usage`, naming the file and the key that is wrong.
    public init(agentFile path: String) throws(SyncError) {
        self = try AgentFile(path: path).configuration
        try check()
    }
}
