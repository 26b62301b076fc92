import Names

/// A setting of one value, as `agent.json`, the options of `sync` and the verb `config` name it.
package enum AgentSetting: String, CaseIterable, Sendable {
    case directory, root, ca
    case tokenFile = "token_file"
    case rate, budget
    case meteredFile = "metered_file"
    case runtimeLibrary = "runtime_library"
    case stall, retries, retain, reserve

    /// The option of the command line, without dashes.
    package var option: String { rawValue.replacing("_", with: "-") }

    /// Whether it names a file or a directory; relative ones are below the folder of the configuration.
    package var isPath: Bool {
        switch self {
        case .directory, .root, .ca, .tokenFile, .meteredFile, .runtimeLibrary: true
        case .rate, .budget, .stall, .retries, .retain, .reserve: false
        }
    }

    /// What may stand there.
    package var expected: String {
        switch self {
        case .directory, .root, .ca, .tokenFile, .meteredFile, .runtimeLibrary: "a path"
        case .rate: "at least 4096 a second: 500kB, 2MB"
        case .budget: "500MB/day, 2GB/month"
        case .stall: "seconds from 1 to 3600: 20s"
        case .retries: "a number from 1 to 1000"
        case .retain: "a time of at least one second: 24h, 7d"
        case .reserve: "a size of at least one byte: 64MiB, 2GB"
        }
    }
}

extension SyncConfiguration {
    /// Sets one setting from its written form.
    ///
    /// - Parameters:
    ///   - setting: Which.
    ///   - text: As a person writes it.
    ///   - place: Where it stands, for the message.
    /// - Throws: `SyncError` of kind `usage`, naming the place and what may stand there.
    package mutating func set(_ setting: AgentSetting, _ text: String, at place: String) throws(SyncError) {
        guard assign(setting, text) else {
            throw SyncError(
                code: .configuration,
                "‘\(place)’: expected \(setting.expected), found ‘\(text)’"
            )
        }
    }

    private mutating func assign(_ setting: AgentSetting, _ text: String) -> Bool {
        guard !text.isEmpty else { return false }
        switch setting {
        case .directory: directory = text
        case .root: rootFile = text
        case .ca: caFile = text
        case .tokenFile: tokenFile = text
        case .meteredFile: meteredFile = text
        case .runtimeLibrary: runtimeLibrary = text
        case .rate:
            guard let value = try? TransferRate(text) else { return false }
            rate = value
        case .budget:
            guard let value = try? ByteBudget(text) else { return false }
            budget = value
        case .stall:
            guard let seconds = WrittenNumber.value(text) ?? WrittenTime.seconds(text),
                (1...3_600).contains(seconds)
            else {
                return false
            }
            stallSeconds = Int(seconds)
        case .retries:
            guard let number = WrittenNumber.value(text), (1...1_000).contains(number) else { return false }
            retries = Int(number)
        case .retain:
            guard let seconds = WrittenTime.seconds(text) else { return false }
            retain = seconds
        case .reserve:
            guard let bytes = WrittenSize.bytes(text) else { return false }
            reserve = bytes
        }
        return true
    }

    /// A setting's value as it is written; `nil` when it has none.
    package func text(of setting: AgentSetting) -> String? {
        switch setting {
        case .directory: directory.isEmpty ? nil : directory
        case .root: rootFile.isEmpty ? nil : rootFile
        case .ca: caFile
        case .tokenFile: tokenFile
        case .meteredFile: meteredFile
        case .runtimeLibrary: runtimeLibrary
        case .rate: rate.map { "\($0.bytesPerSecond)B/s" }
        case .budget: budget.map { "\($0.bytes)B/\($0.period.rawValue)" }
        case .stall: "\(stallSeconds)s"
        case .retries: "\(retries)"
        case .retain: WrittenTime.text(retain)
        case .reserve: "\(reserve)B"
        }
    }
}
