import CanonicalJSON
import Durable
import Names
import Support
import SyncAgent
import Testing

@Suite("The schema of agent.json, and its reader")
struct AgentSchemaTests {
    private static let whole = """
        "type": "sealift/agent@1", "directory": "m", "root": "r", "registries": ["https://a.example/"]
        """

    /// What may stand in one place of a document, and what may not, by what both must say.
    struct Place: Sendable, CustomTestStringConvertible {
        /// With `@` where the value stands.
        let members: String
        let good: [String]
        let bad: [String]

        var testDescription: String { members }
    }

    private static let sizes = [
        "1", "1B", "007kB", "4096", "9999999999999999999B", "9999999999999999kB", "9999999999999999KiB",
        "9999999999999MiB", "9999999999GiB", "9999999TiB", "0009999999TB",
    ]
    private static let noSizes = [
        "", "0", "0MB", "-1", "+1", "1.5MB", "1 MB", "1mb", "1KB", "MB", "1PB", "10000000TB", "10000000000GB",
        "99999999999999999999", "1MB\\n", "١MB", "1MB/s/s",
    ]
    private static let versions = ["1.0.0", "0.0.0", "1.2.3-rc.1", "1.0.0--", "1.0.0-0a.0", "10.20.30-x-y"]
    private static let noVersions = [
        "", "1", "1.0", "01.0.0", "1.0.0.0", "1.0.0+b", "v1.0.0", "1.0.0-", "1.0.0-01", "1.0.0-a..b",
        "1.0.0-é",
        "=1.0.0", "1.0.0\\n", "1.0.0-" + String(repeating: "a", count: 59),
    ]
    private static let long = String(repeating: "a", count: 64)

    static let places = [
        Place(
            members: #""window": ["@"]"#,
            good: ["22:00-06:00", "00:00-23:59", "00:01-24:00", "24:00-06:00", "09:30-09:31"],
            bad: [
                "99:99-10:00", "10:00-99:99", "25:00-06:00", "24:01-06:00", "22:60-06:00", "10:00-10:00",
                "00:00-24:00", "24:00-00:00", "9:00-10:00", "+9:00-10:00", "09:00-1:000", "09:00", "",
                "09:00-10:00-11:00", "09:00-10:00\\n",
            ]
        ),
        Place(
            members: #""rate": "@""#,
            good: [
                "4096", "4099B", "4100/s", "5000", "10000B/s", "5kB", "4KiB", "10kB/s", "1MB", "1TiB/s",
                "04096",
            ],
            bad: ["4095", "1", "4kB", "3KiB", "0MB", "5kB/m", "5kB/s/s", "fast"] + noSizes
        ),
        Place(members: #""reserve": "@""#, good: sizes, bad: noSizes + ["1MB/s"]),
        Place(
            members: #""budget": "@/day""#,
            good: sizes,
            bad: noSizes
        ),
        Place(
            members: #""budget": "5MB/@""#,
            good: ["hour", "day", "week", "month"],
            bad: ["", "year", "Day", "day/day"]
        ),
        Place(
            members: #""stall": "@""#,
            good: ["1", "20", "3600", "1s", "3600s", "60m", "1h", "0020s", "999", "3599"],
            bad: ["0", "3601", "3601s", "61m", "2h", "1d", "+5", "-5", "5 s", "", "1w"]
        ),
        Place(
            members: #""retain": "@""#,
            good: ["1s", "24h", "7d", "100000d", "0001m"],
            bad: ["0s", "0", "7", "100001s", "+1s", "-1s", "1w", "1.5h", "", "d", "1h\\n"]
        ),
        Place(
            members: #""models": [{"model": "@"}]"#,
            good: [
                "a/b", "vision/detector", "0/9", "a.b_c-d/e", "\(long)/\(long)", "sealift-x/y", "x/sealift",
            ],
            bad: [
                "", "a", "a/b/c", "/b", "a/", "A/b", "a/b ", "a..b/c", "a/b..c", ".a/b", "a-/b", "a/b@stable",
                "\(long)a/b", "é/b",
            ] + Namespace.reserved.map { "\($0)/b" }
        ),
        Place(
            members: #""models": [{"model": "a/b", "channel": "@"}]"#,
            good: ["stable", "a", "a-b2", String(long.prefix(32))],
            bad: ["", "Stable", "1", "-a", "a_b", "a.b", String(long.prefix(33)), "1.0.0"]
        ),
        Place(members: #""models": [{"model": "a/b", "version": "@"}]"#, good: versions, bad: noVersions),
        Place(members: #""models": [{"model": "a/b", "floor": "@"}]"#, good: versions, bad: noVersions),
        Place(
            members: #""models": [{"model": "a/b", "variant": "@"}]"#,
            good: ["fp32", "a", "int8.v2_x-y", String(long.prefix(32))],
            bad: ["", "FP32", ".a", "a-", "a..b", "a b", String(long.prefix(33))]
        ),
        Place(
            members: #""models": [{"model": "a/b", "confirm": "@"}]"#,
            good: ["3/24h", "1/1s", "1000/100000s", "9/100000m", "9/87600h", "9/3650d", "003/024h"],
            bad: [
                "", "3", "0/1h", "3/0h", "1001/1h", "3/100001s", "3/87601h", "3/3651d", "+3/1h", "3/+1h",
                "3/1",
                "3/1h/1h", "-3/1h",
            ]
        ),
        Place(
            members: #""models": [{"model": "a/b", "group": "@"}]"#,
            good: ["pair", "A pair of models", "é"],
            bad: ["", "a\\u0000b"]
        ),
        Place(
            members: #""registries": ["@"]"#,
            good: [
                "https://a/", "https://a", "HTTPS://models.example.com:8443/x/y", "https://127.0.0.1:1/",
                "https://[::1]:65535/",
                "https://a:00080/",
            ],
            bad: [
                "", "a", "ftp://a/", "https://", "https:///x", "https://a/?q", "https://a/#f", "https://u@a/",
                "https://u:p@a/", "https://a:0/", "https://a:65536/", "https://a:x/", "https://a:/",
                "https://[::1/",
                "https://a b/", "https://é/", "https://a\\n/", "https://a\\u0000/",
            ]
        ),
        Place(
            members: #""tags": {"site": "@"}"#,
            good: ["hall-3", " ", "a b~", long],
            bad: ["", "é", "a\\nb", long + "a"]
        ),
        Place(
            members: #""tags": {"@": "x"}"#,
            good: ["site", "a.b_c-1", String(long.prefix(32))],
            bad: ["", "Site", "a b", "é", String(long.prefix(33))]
        ),
    ]

    private static let verdicts: [(String, isGood: Bool)] = [
        (#""retries": 1"#, true), (#""retries": 1000"#, true), (#""retries": 0"#, false),
        (#""retries": 1001"#, false), (#""retries": "3""#, false), (#""receipts": true"#, true),
        (#""receipts": null"#, false), (#""receipts": "true""#, false),
        (#""rate": 5000"#, false), (#""rate": null"#, false), (#""window": "22:00-06:00""#, false),
        (#""window": []"#, true), (#""window": [null]"#, false), (#""tags": []"#, false),
        (#""tags": {}"#, true),
        (#""tags": {"a": 1}"#, false), (#""models": {}"#, false), (#""models": [[]]"#, false),
        (#""models": [{}]"#, false), (#""models": [{"model": "a/b", "x": 1}]"#, false),
        (#""models": [{"model": "a/b", "channel": "c", "version": "1.0.0"}]"#, false), (#""x": 1"#, false),
        (#""ca": "a\u0000b""#, false), (#""ca": """#, false), (#""ca": "a b""#, true),
        (#""stall": 20"#, false),
        (
            "\"tags\": {\((0..<16).map { "\"t\($0)\": \"x\"" }.joined(separator: ", "))}", true
        ),
        (
            "\"tags\": {\((0..<17).map { "\"t\($0)\": \"x\"" }.joined(separator: ", "))}", false
        ),
    ]

    private static func document(_ members: String) -> String {
        var parts = [whole, members]
        if members.hasPrefix("\"registries\"") {
            parts[0] = parts[0].replacing(#", "registries": ["https://a.example/"]"#, with: "")
        }
        if !members.hasPrefix("\"models\"") { parts.append(#""models": [{"model": "a/b"}]"#) }
        return "{\(parts.joined(separator: ", "))}"
    }

    private func isRead(_ text: String) -> Bool {
        do {
            try AgentFile(Array(text.utf8), folder: "/etc/sealift").configuration.check()
            return true
        } catch { return false }
    }

    private static func schema() throws -> SchemaReading {
        SchemaReading(root: try JSONParser.parse(Array(AgentSchema.text.utf8), maximumLength: 65_536))
    }

    private func compare(_ members: String, _ isGood: Bool, _ schema: SchemaReading) throws {
        let text = Self.document(members)
        let value = try JSONParser.parse(Array(text.utf8), maximumLength: 65_536)
        #expect(isRead(text) == isGood, "the reader: \(text)")
        #expect(
            (schema.fault(value) == nil) == isGood,
            "the schema: \(text): \(schema.fault(value) ?? "none")"
        )
    }

    @Test("take and refuse the same values", arguments: places)
    func same(_ place: Place) throws {
        let schema = try Self.schema()
        for good in place.good { try compare(place.members.replacing("@", with: good), true, schema) }
        for bad in place.bad { try compare(place.members.replacing("@", with: bad), false, schema) }
    }

    @Test("take and refuse the same shapes")
    func shapes() throws {
        let schema = try Self.schema()
        for (members, isGood) in Self.verdicts { try compare(members, isGood, schema) }
    }
}
