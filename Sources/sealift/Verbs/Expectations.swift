import Arguments
import CanonicalJSON
import Manifest
import Names
import Publishing
import RegistryAPI
import Trust

/// Keeps in the registry what apps need of models, so that publishers notice before they break one.
struct Expectations: Command {
    static let spec = CommandSpec(
        name: "expectation",
        summary: "Register what an app needs of a model, so that publish refuses to break it",
        positions: [
            .required("register|remove|list"), .optional("APP"), .optional("NS/MODEL"), .optional("FILE"),
        ],
        options: SharedOption.client + [SharedOption.json],
        example: "sealift expectation register camera-ios vision/detector expectation.json",
        discussion:
            "Also: expectation remove APP NS/MODEL; expectation list [NS/MODEL]. Advice, not a signature: it is "
            + "checked by publish and when a version enters a channel, and stops what the app cannot use when it could "
            + "use the version before, and when a channel would offer nothing more that the app can use, but for a "
            + "recall; --breaks APP goes on all the same, and the registry keeps that it did. "
            + "‘sealift inspect --expectation’ writes one to start from."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let positions = arguments.positions
        let session = try ClientSession(arguments, context)
        let client = try session.registryClient()
        switch positions[0] {
        case "register":
            try expect(positions.count == 4, "register APP NS/MODEL FILE")
            let (app, model) = (try app(positions[1]), try model(positions[2]))
            let expectation = try DocumentFile.expectation(positions[3])
            let verdicts = await LiveVerdicts.lines(expectation, of: model, session)
            try await client.register(expectation.canonical, of: app, for: model)
            tell(arguments, "registered what \(app) needs of \(model)", app, model)
            Output.note(lines: verdicts)
        case "remove":
            try expect(positions.count == 3, "remove APP NS/MODEL")
            let (app, model) = (try app(positions[1]), try model(positions[2]))
            try await client.removeExpectation(of: app, for: model)
            tell(arguments, "removed what \(app) needed of \(model)", app, model)
        case "list":
            try expect(positions.count <= 2, "list [NS/MODEL]")
            let model = positions.count == 2 ? try model(positions[1]) : nil
            list(try await client.expectations(of: model), asJSON: arguments.has("json"))
        default: throw UsageError.refused("\(positions[0]) is none of register, remove, list")
        }
        return .done
    }

    private static func tell(_ arguments: ParsedArguments, _ text: String, _ app: AppName, _ model: ModelName)
    {
        guard arguments.has("json") else { return Output.result(text) }
        Output.result(bytes: JSONReport(["app": .text("\(app)"), "model": .text("\(model)")]).bytes)
    }

    private static func list(_ entries: [ExpectationEntry], asJSON: Bool) {
        guard !asJSON else {
            return Output.result(bytes: JSONReport(["expectations": .array(entries.map(\.json))]).bytes)
        }
        guard !entries.isEmpty else { return Output.result("no app has registered an expectation") }
        let rows = entries.map { entry in
            let accepts = entry.document["accepts"]?.string ?? "any version"
            return ["\(entry.app)", "\(entry.model)", accepts, "\(entry.registeredAt)", entry.registeredBy]
        }
        Output.result(lines: TextTable.lines(["app", "model", "accepts", "registered", "by"], rows))
    }

    private static func expect(_ isGood: Bool, _ usage: String) throws(UsageError) {
        guard isGood else { throw .refused("expected sealift expectation \(usage)") }
    }

    private static func app(_ text: String) throws(UsageError) -> AppName {
        guard let app = AppName(text) else {
            throw .badValue(text, of: "APP", expected: "1 to 128 of A-Z a-z 0-9 . _ - @")
        }
        return app
    }

    private static func model(_ text: String) throws(UsageError) -> ModelName {
        guard let model = ModelName(text) else {
            throw .badValue(text, of: "the model", expected: "NAMESPACE/MODEL")
        }
        return model
    }
}

/// What an expectation means for the versions that devices can take now.
private enum LiveVerdicts {
    /// What is said beside a registration, which does not depend on it.
    static func lines(
        _ expectation: Expectation,
        of model: ModelName,
        _ session: ClientSession
    ) async -> [String] {
        do { return try await judged(expectation, of: model, session) } catch {
            return ["whether it fits what is live is not known: \(Failure(describing: error).line)"]
        }
    }

    /// A line for each version that is on a channel, with the first reason where the app cannot use it.
    private static func judged(
        _ expectation: Expectation,
        of model: ModelName,
        _ session: ClientSession
    ) async throws -> [String] {
        var registry = try session.verifiedRegistry()
        try await registry.refresh()
        let state = try await registry.state(of: .model(model))
        guard let release = state.roles[.release(model)]?.document else {
            return ["there is no model \(model) here yet; is the name right?"]
        }
        let live = try state.live(of: model)
        var channels: [ModelVersion: [ChannelName]] = [:]
        for channel in live.channels.keys.sorted() {
            for listing in live.eligible(in: channel) {
                channels[listing.version, default: []].append(channel)
            }
        }
        guard !channels.isEmpty else { return ["no version of \(model) is on a channel yet"] }
        var lines: [String] = []
        for (version, names) in channels.sorted(by: { $0.key > $1.key }) {
            let path = ModelManifest.targetPath(model: model, version: version)
            guard let bytes = try await registry.content(of: path, in: release),
                let manifest = try? ModelManifest(canonical: bytes, at: path)
            else { continue }
            let verdict = Compatibility.verdict(expectation, manifest)
            let place = "\(version), on \(names.map(\.description).joined(separator: ", "))"
            lines.append(
                verdict.allowsUse
                    ? "\(place): fits"
                    : "\(place): does not fit, \(verdict.reasons.first ?? "for no known reason")"
            )
        }
        return lines
    }
}
