import CanonicalJSON
import Manifest
import Names
import Testing

@Suite("Settings and hold documents")
struct OperationsDocumentTests {
    @Test("settings are read back, and their defaults are within their own rules")
    func settings() throws {
        var settings = SettingsDocument()
        #expect(try SettingsDocument(canonical: settings.encoded()) == settings)
        settings.afterGrace = .refuse
        settings.oldestRoot = 3
        #expect(try SettingsDocument(canonical: settings.encoded()) == settings)
    }

    static let brokenSettings = [
        Broken("no poll interval", ["poll_seconds"], nil, named: "poll_seconds"),
        Broken("polling all the time", ["poll_seconds"], .integer(0), named: "poll_seconds"),
        Broken("a grace that is negative", ["grace"], .integer(-1), named: "grace"),
        Broken("an unknown end of grace", ["after_grace"], .text("panic"), named: "after_grace"),
        Broken("a bundle age that is text", ["bundle_max_age"], .text("1"), named: "bundle_max_age"),
        Broken(
            "more than all failed",
            ["halt", "failed_percent"],
            .integer(101),
            named: "halt.failed_percent"
        ),
        Broken("a halt without minimum", ["halt", "minimum"], nil, named: "halt.minimum"),
        Broken("root 0", ["oldest_root"], .integer(0), named: "oldest_root"),
        Broken("an unknown member", ["mirror"], .text("x"), named: "mirror"),
    ]

    @Test("each rule of settings that is broken is refused, by the member's name", arguments: brokenSettings)
    func settingsRules(_ example: Broken) {
        #expect(example.error(changing: SettingsDocument())?.member == example.named)
    }

    private func hold(_ byte: UInt8, _ since: String, _ until: String) throws -> Hold {
        Hold(
            manifest: try Samples.digest(byte),
            reason: "crashes",
            since: try Samples.time(since),
            until: try Samples.time(until)
        )
    }

    @Test("a hold is read back at its own place only")
    func holdDocument() throws {
        let hold = try hold(1, "2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z")
        let document = HoldDocument(model: try Samples.model(), holds: [hold])
        let path = "sealift/holds/vision/detector.json"
        #expect(try HoldDocument(canonical: document.encoded(), at: path) == document)
        #expect(throws: ManifestError.self) {
            try HoldDocument(canonical: document.encoded(), at: "sealift/holds/vision/other.json")
        }
    }

    @Test("a hold applies until its end, for at most 7 days, and from at most 10 minutes ahead")
    func effect() throws {
        let holds = [
            try hold(1, "2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z"),
            try hold(2, "2026-11-30T00:00:00Z", "2026-12-07T00:00:01Z"),
            try hold(3, "2026-11-30T12:10:00Z", "2026-12-01T00:00:00Z"),
            try hold(4, "2026-11-30T12:10:01Z", "2026-12-01T00:00:00Z"),
            try hold(5, "2026-11-30T00:00:00Z", "2026-11-30T12:00:00Z"),
            try hold(6, "2026-11-30T02:00:00Z", "2026-11-30T01:00:00Z"),
        ]
        let document = HoldDocument(model: try Samples.model(), holds: holds)
        let effect = document.effect(at: try Samples.time("2026-11-30T12:00:00Z"))
        #expect(Set(effect.holds.keys) == [holds[0].manifest, holds[2].manifest])
        #expect(effect.ignored.map(\.hold) == [holds[1], holds[3], holds[5]])
        #expect(effect.ignored.allSatisfy { !$0.reason.isEmpty })
    }

    @Test("a hold without a reason is refused")
    func holdRules() throws {
        let hold = try hold(1, "2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z")
        let document = HoldDocument(model: try Samples.model(), holds: [hold])
        let broken = Broken("", ["holds", 0, "reason"], nil, named: "")
        #expect(broken.error(changing: document)?.member == "holds[0].reason")
    }
}
