import CanonicalJSON
import Durable
import Names
import Support
import SyncAgent
import Testing

@Suite("agent.json")
struct AgentFileTests {
    private let scratch = Scratch()

    static let everything = """
        {
          "type": "sealift/agent@1", "directory": "models", "registries": ["https://a.example/", "https://b.example/"],
          "root": "/etc/sealift/root.json", "ca": "ca.pem", "token_file": "token",
          "models": [
            {"model": "vision/detector", "channel": "beta", "variant": "int8", "floor": "1.2.0", "group": "pair"},
            {"model": "vision/reader", "version": "1.4.0", "group": "pair", "confirm": "3/24h"}, {"model": "audio/words"}
          ],
          "rate": "2MB/s", "budget": "500MB/day", "window": ["22:00-06:00", "12:00-13:00"],
          "metered_file": "/run/metered", "runtime_library": "ort.so", "stall": "30s", "retries": 3, "retain": "7d", "reserve": "1GiB",
          "receipts": true, "tags": {"site": "hall-3"}
        }
        """

    private func file(_ text: String) throws(SyncError) -> AgentFile {
        try AgentFile(Array(text.utf8), folder: scratch.path)
    }

    @Test("every key reaches its setting, and relative paths are below the file's folder")
    func everything() throws {
        let file = try file(Self.everything)
        let found = file.configuration
        #expect(found.directory == scratch.path("models") && found.caFile == scratch.path("ca.pem"))
        #expect(found.rootFile == "/etc/sealift/root.json" && found.tokenFile == scratch.path("token"))
        #expect(found.registries == ["https://a.example/", "https://b.example/"])
        #expect(
            found.models.map(\.description)
                == ["vision/detector@beta", "vision/reader@1.4.0", "audio/words@stable"]
        )
        #expect(found.models[0].variant == VariantName("int8"))
        #expect(found.models[0].floor == ModelVersion("1.2.0") && found.models[1].floor == nil)
        #expect(found.models.map(\.group) == ["pair", "pair", nil])
        #expect(
            found.models.map(\.confirmation)
                == [.selfTest, .app(starts: 3, seconds: 86_400), .selfTest]
        )
        #expect(
            found.rate?.bytesPerSecond == 2_000_000 && found.budget?.bytes == 500_000_000
                && found.budget?.period == .day
        )
        #expect(found.windows.map(\.description) == ["22:00-06:00", "12:00-13:00"])
        #expect(found.meteredFile == "/run/metered" && found.stallSeconds == 30 && found.retries == 3)
        #expect(found.runtimeLibrary == scratch.path("ort.so"))
        #expect(found.retain == 7 * 86_400 && found.reserve == 1 << 30)
        #expect(found.sendsReceipts && found.tags == ["site": "hall-3"])
        let keys = try JSONParser.parse(Array(Self.everything.utf8), maximumLength: 65_536).object?.keys ?? []
        #expect(file.given == Set(keys).subtracting(["type"]))
        try found.check()
    }

    @Test("what it does not say keeps its default")
    func defaults() throws {
        let found = try file(#"{"type": "sealift/agent@1"}"#)
        #expect(found.given.isEmpty)
        let plain = SyncConfiguration(directory: "", registries: [], rootFile: "", models: [])
        #expect(found.configuration == plain)
    }

    @Test("an expectation is read from its file, and one that is not there is named")
    func expectation() throws {
        try scratch.write("app.json", Array("text".utf8))
        let text =
            #"{"type": "sealift/agent@1", "models": [{"model": "a/b", "expectation": "app.json"}]}"#
        #expect(try file(text).configuration.models[0].expectation == Array("text".utf8))
        let error = try file(text.replacing("app.json", with: "no.json")).configuration.models[0].fault
        #expect(error?.code == "place" && error?.message.contains("models[0].expectation") == true)
    }

    static let wrong: [(String, String)] = [
        (#"{"type": "sealift/agent@1", "modles": []}"#, "‘modles’; known there are type, directory"),
        (
            #"{"type": "sealift/agent@1", "models": [{"model": "a/b"}, {"model": "a/b", "chanel": "x"}]}"#,
            "‘models[1].chanel’; known in models[1] are model, channel, version"
        ),
        (#"{"type": "sealift/agent@1", "rate": "2MB", "rate": "3MB"}"#, "‘rate’ stands there twice"),
        (
            #"{"type": "sealift/agent@1", "models": [{"a": [1]}, {"model": "a/b", "m\u006fdel": "a/c"}]}"#,
            "‘models[1].model’ stands there twice"
        ),
        (#"{"type": "sealift/agent@2"}"#, "its ‘type’ is not"), (#"{"registries": []}"#, "its ‘type’ is not"),
        ("[]", "the document’: expected an object"), ("{", "not valid JSON"),
        (#"{"type": "sealift/agent@1", "rate": "fast"}"#, "‘rate’: expected at least 4096"),
        (#"{"type": "sealift/agent@1", "directory": "nul\u0000b"}"#, "‘directory’: expected text"),
        (#"{"type": "sealift/agent@1", "registries": ["a\u0000b"]}"#, "‘registries[0]’: expected text"),
        (#"{"type": "sealift/agent@1", "rate": 5000}"#, "‘rate’: expected text, found 5000"),
        (#"{"type": "sealift/agent@1", "retries": 0}"#, "‘retries’: expected a number from 1"),
        (#"{"type": "sealift/agent@1", "receipts": "yes"}"#, "‘receipts’: expected true or false"),
        (#"{"type": "sealift/agent@1", "tags": ["a"]}"#, "‘tags’: expected an object"),
        (#"{"type": "sealift/agent@1", "tags": {"a": 1}}"#, "‘tags.a’: expected text"),
        (#"{"type": "sealift/agent@1", "window": ["night"]}"#, "‘window[0]’: expected hours"),
        (#"{"type": "sealift/agent@1", "registries": "https://a/"}"#, "‘registries’: expected a list"),
        (#"{"type": "sealift/agent@1", "registries": [1]}"#, "‘registries[0]’: expected text"),
        (#"{"type": "sealift/agent@1", "models": [{}]}"#, "‘models[0].model’ is missing"),
        (
            #"{"type": "sealift/agent@1", "models": [{"model": "ab"}]}"#,
            "‘models[0].model’: expected NAMESPACE"
        ),
        (
            #"{"type": "sealift/agent@1", "models": [{"model": "a/b", "floor": "low"}]}"#,
            "models[0].floor’: expected a version"
        ),
        (
            #"{"type": "sealift/agent@1", "models": [{"model": "a/b", "group": 1}]}"#,
            "‘models[0].group’: expected text"
        ),
        (
            #"{"type": "sealift/agent@1", "models": [{"model": "a/b", "confirm": "3"}]}"#,
            "‘models[0].confirm’: expected STARTS/TIME"
        ),
        (
            #"{"type": "sealift/agent@1", "models": [{"model": "a/b", "channel": "c", "version": "1.0.0"}]}"#,
            "both a channel and a version"
        ),
    ]

    @Test("what is wrong is refused with the path of the key", arguments: wrong)
    func refused(_ text: String, _ words: String) throws {
        let error = #expect(throws: SyncError.self) { try file(text) }
        #expect(error?.kind == .usage && error?.code == "configuration")
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "nothing")")
    }

    @Test("reading it from the disk names the file, and checks that all is there")
    func path() throws {
        try scratch.write("agent.json", Array(#"{"type": "sealift/agent@1", "rat": "1MB"}"#.utf8))
        let error = #expect(throws: SyncError.self) {
            try SyncConfiguration(agentFile: scratch.path("agent.json"))
        }
        #expect(error?.message.hasPrefix(scratch.path("agent.json")) == true)
        try scratch.write("agent.json", Array(Self.everything.utf8))
        #expect(try SyncConfiguration(agentFile: scratch.path("agent.json")).models.count == 3)
        let absent = #expect(throws: SyncError.self) { try SyncConfiguration(agentFile: scratch.path("no")) }
        #expect(absent?.code == "place")
    }

    @Test("the schema knows every key, and refuses what the reader refuses of shape")
    func schema() throws {
        func parse(_ text: String) throws -> JSONValue {
            try JSONParser.parse(Array(text.utf8), maximumLength: 65_536)
        }
        let schema = SchemaReading(root: try parse(AgentSchema.text))
        #expect(schema.fault(try parse(Self.everything)) == nil)
        let known = try Set(parse(AgentSchema.text)["properties"]?.object?.keys ?? [])
        let read = try Set(parse(Self.everything).object?.keys ?? [])
        #expect(known == read)
        for (text, words) in Self.wrong where !words.contains("twice") && words.hasPrefix("‘") {
            #expect(schema.fault(try parse(text)) != nil, "\(text)")
        }
    }
}
