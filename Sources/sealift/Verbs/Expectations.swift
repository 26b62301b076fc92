import Arguments
import CanonicalJSON
import Durable
import Manifest
import Names
import Publishing
import RegistryAPI

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
            + "checked by publish and when a version enters a channel; publish --breaks APP goes on all the same, "
            + "and the registry keeps that it did. ‘sealift inspect --expectation’ writes one to start from."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let positions = arguments.positions
        let client = try ClientSession(arguments, context).registryClient()
        switch positions[0] {
        case "register":
            try expect(positions.count == 4, "register APP NS/MODEL FILE")
            let (app, model) = (try app(positions[1]), try model(positions[2]))
            let bytes = try Durable.readFile(positions[3], maximum: Limits.manifest)
            let expectation = try Expectation(bytes: bytes)
            try await client.register(expectation.canonical, of: app, for: model)
            tell(arguments, "registered what \(app) needs of \(model)", app, model)
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
