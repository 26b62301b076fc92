import Durable
import Generations
import Manifest
import Names
import Support
import SyncAgent
import Testing

@Suite("Grace and clocks")
struct GraceTests {
    private let fixture: SyncFixture
    private let day: Int64 = 86_400

    init() throws { fixture = try SyncFixture() }

    private func obstacle(after seconds: Int64) throws -> String? {
        let device = try fixture.device
        let manifest = try require(try device.activeGeneration()?.record.models.first?.identity.manifest)
        return try device.trustState()?.obstacle(
            to: manifest,
            at: DeviceRegistry.start.adding(seconds: seconds)
        )
    }

    @Test("after the grace the active version runs on, or is refused where the owners want that")
    func afterGrace() async throws {
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        #expect(try obstacle(after: 1_000 * day) == nil)
        var settings = SettingsDocument()
        settings.grace = 10 * day
        settings.afterGrace = .refuse
        try fixture.registry.change(settings)
        try await fixture.sync()
        // The timestamp lives three days, and the grace ten more.
        #expect(try obstacle(after: 13 * day - 1) == nil)
        #expect(try obstacle(after: 13 * day)?.contains("grace ended") == true)
        // A clock at any time before: the greatest signed time counts, and that is within the grace.
        #expect(try obstacle(after: -1_000 * day) == nil)
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test(
        "by a clock at 1970 or 2100 nothing new is accepted and nothing is lost, and afterwards all is as before",
        arguments: [0, 4_102_444_800]
    )
    func wrongClock(_ time: Int64) async throws {
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        try fixture.registry.release("1.1.0")
        let before = try fixture.contents().filter { !$0.key.hasPrefix("trust/") }
        let away = UnixTime(rawValue: time).seconds(since: fixture.clock.now)
        fixture.clock.advance(seconds: away)
        #expect(try await fixture.failure() != nil)
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(try fixture.contents().filter { !$0.key.hasPrefix("trust/") } == before)
        fixture.clock.advance(seconds: -away)
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test(
        "a first sync by a wrong clock takes nothing, and one by the right clock takes all",
        arguments: [0, 4_102_444_800]
    )
    func firstSync(_ time: Int64) async throws {
        try fixture.registry.release("1.0.0")
        let away = UnixTime(rawValue: time).seconds(since: fixture.clock.now)
        fixture.clock.advance(seconds: away)
        #expect(try await fixture.failure()?.kind == .refused)
        #expect(try fixture.activeVersion() == nil)
        fixture.clock.advance(seconds: -away)
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.0.0")
    }
}
