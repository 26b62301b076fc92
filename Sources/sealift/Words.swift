import Arguments
import Manifest
import Names
import Publishing
import SyncAgent

/// Words of a call as values; each refusal says what would be right.
enum Words {
    static func namespace(_ text: String, of place: String) throws(UsageError) -> Namespace {
        guard let namespace = Namespace(text) else {
            throw .badValue(text, of: place, expected: Namespace.expected)
        }
        return namespace
    }

    static func model(_ text: String) throws(UsageError) -> ModelName {
        guard let model = ModelName(text) else {
            throw .badValue(text, of: "the model", expected: "NAMESPACE/MODEL of a-z 0-9 . _ -")
        }
        return model
    }

    static func version(_ text: String) throws(UsageError) -> ModelVersion {
        guard let version = ModelVersion(text) else {
            throw .badValue(text, of: "the version", expected: "a version such as 1.4.0")
        }
        return version
    }

    static func versions(_ texts: some Sequence<String>) throws(UsageError) -> [ModelVersion] {
        var versions: [ModelVersion] = []
        for text in texts { versions.append(try version(text)) }
        return versions
    }

    /// The apps that `--breaks` names.
    static func apps(_ arguments: ParsedArguments) throws(UsageError) -> [AppName] {
        var apps: [AppName] = []
        for text in arguments.all("breaks") {
            guard let app = AppName(text) else {
                throw .badValue(text, of: "--breaks", expected: "an app's name, as registered")
            }
            apps.append(app)
        }
        return apps
    }

    static func channel(_ text: String) throws(UsageError) -> ChannelName {
        guard let channel = ChannelName(text) else {
            throw .badValue(text, of: "the channel", expected: "a-z, then a-z 0-9 -, at most 32")
        }
        return channel
    }

    static func owner(_ arguments: ParsedArguments) throws(UsageError) -> OwnerName? {
        guard let text = arguments["owner"] else { return nil }
        guard let owner = OwnerName(text) else {
            throw .badValue(text, of: "--owner", expected: "one line of at most 256 bytes")
        }
        return owner
    }

    static func threshold(_ arguments: ParsedArguments, _ option: String) throws(UsageError) -> Int? {
        guard let text = arguments[option] else { return nil }
        guard let number = Int(text), (1...1_000).contains(number) else {
            throw .badValue(text, of: "--\(option)", expected: "a number of signatures")
        }
        return number
    }

    /// `60d`, `24h`, `30m` or `90s` in seconds.
    static func duration(_ text: String, of option: String) throws(UsageError) -> Int64 {
        guard let seconds = WrittenTime.seconds(text) else {
            throw .badValue(
                text,
                of: option,
                expected: "a time of at least one second, such as 60d, 24h or 30m"
            )
        }
        return seconds
    }

    /// How long something still takes: `2d 5h`, `23h 5m`, `40s`.
    static func rest(_ seconds: Int64) -> String {
        let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m")]
        let words = parts.drop { $0.0 == 0 }.prefix(2).map { "\($0.0)\($0.1)" }
        return words.isEmpty ? "\(seconds)s" : words.joined(separator: " ")
    }

    static func reason(_ arguments: ParsedArguments) throws(UsageError) -> String {
        guard let reason = arguments["reason"], !reason.isEmpty else {
            throw .refused("say why: --reason TEXT; those who are asked will read it")
        }
        return reason
    }

    /// `10%`, `10` or `0.5%` as ten-thousandths.
    static func rollout(_ text: String, of place: String) throws(UsageError) -> Int {
        let digits = text.hasSuffix("%") ? text.dropLast() : text[...]
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = parts.count == 2 ? String(parts[1]) : ""
        guard (1...2).contains(parts.count), let whole = Int(parts[0]), (0...100).contains(whole),
            fraction.count <= 2, parts.joined().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            parts.count == 1 || !fraction.isEmpty
        else {
            throw .badValue(text, of: place, expected: "a percentage from 0 to 100 such as 10% or 0.5%")
        }
        let hundredths = fraction.isEmpty ? 0 : (Int(fraction) ?? 0) * (fraction.count == 1 ? 10 : 1)
        let share = whole * 100 + hundredths
        guard share <= Listing.fullRollout else {
            throw .badValue(text, of: place, expected: "a percentage from 0 to 100")
        }
        return share
    }
}
