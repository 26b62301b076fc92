import CanonicalJSON
import Manifest
import Names
import Testing

@Suite("Live document")
struct LiveDocumentTests {
    private let stable: ChannelName
    private let one: ListedVersion
    private let two: ListedVersion
    private let three: ListedVersion

    init() throws {
        stable = try #require(ChannelName("stable"))
        one = ListedVersion(version: try Samples.version("1.0.0"), manifest: try Samples.digest(1))
        two = ListedVersion(version: try Samples.version("1.10.0"), manifest: try Samples.digest(2))
        three = ListedVersion(version: try Samples.version("1.9.0"), manifest: try Samples.digest(3))
    }

    private func listing(_ versions: ListedVersion...) throws -> LiveDocument {
        var live = LiveDocument(model: try Samples.model())
        for version in versions { live = try live.adding(version, to: stable) }
        return live
    }

    @Test("what was written is read back, and written the same")
    func roundTrip() throws {
        let state = VersionState(kind: .recalled, reason: "wrong labels", time: try Samples.time())
        let live = try listing(one, two, three)
            .setting(stable, to: [three])
            .withdrawing(try Samples.version("0.9.0"), state)
            .flooring(stable, at: one.version)
        let read = try LiveDocument(canonical: live.encoded(), at: "vision/detector/live.json")
        #expect(read == live)
        #expect(throws: ManifestError.self) {
            try LiveDocument(canonical: live.encoded(), at: "vision/other/live.json")
        }
    }

    @Test("the highest precedence comes first, whatever the order of the list")
    func order() throws {
        let live = try listing(one, two, three)
        #expect(live.eligible(in: stable).map(\.version) == [two.version, three.version, one.version])
        #expect(live.eligible(in: try #require(ChannelName("beta"))).isEmpty)
    }

    @Test("withdrawn versions and those below the floor are listed, but not eligible")
    func eligible() throws {
        let yanked = VersionState(kind: .yanked, reason: "slow", time: try Samples.time())
        let live = try listing(one, two, three).withdrawing(two.version, yanked).flooring(
            stable,
            at: three.version
        )
        #expect(live.eligible(in: stable).map(\.version) == [three.version])
        #expect(live.listed(in: stable).count == 3)
        #expect(live.state(of: two.version)?.kind == .yanked)
    }

    @Test("adding keeps the rest, and changes the rollout of what is there")
    func adding() throws {
        let live = try listing(one).adding(two, to: stable, rollout: 1_000)
        #expect(live.listed(in: stable).map(\.rollout) == [1_000, 10_000])
        let wider = try live.adding(two, to: stable, rollout: 5_000)
        #expect(wider.listed(in: stable).map(\.rollout) == [5_000, 10_000])
        let beta = try #require(ChannelName("beta"))
        #expect(try wider.adding(three, to: beta).listed(in: stable) == wider.listed(in: stable))
    }

    @Test("adding refuses another manifest of a listed version, a withdrawn version and a rollout above all")
    func addingRefused() throws {
        let other = ListedVersion(version: one.version, manifest: two.manifest)
        let live = try listing(one)
        #expect(throws: ManifestError.self) { try live.adding(other, to: stable) }
        let again = ListedVersion(version: two.version, manifest: one.manifest)
        #expect(throws: ManifestError.self) { try live.adding(again, to: stable) }
        let state = VersionState(kind: .recalled, reason: "bad", time: try Samples.time())
        let recalled = live.withdrawing(two.version, state)
        #expect(throws: ManifestError.self) { try recalled.adding(two, to: stable) }
        #expect(throws: ManifestError.self) { try live.adding(two, to: stable, rollout: 10_001) }
    }

    @Test("a version is taken off a channel, and a withdrawal taken back, only when it is there")
    func takingBack() throws {
        let live = try listing(one, two)
        #expect(
            try live.removing([two.version], from: stable).listed(in: stable).map(\.version) == [one.version]
        )
        #expect(throws: ManifestError.self) { try live.removing([three.version], from: stable) }
        #expect(throws: ManifestError.self) { try live.restoring(two.version) }
        let state = VersionState(kind: .yanked, reason: "bad", time: try Samples.time())
        #expect(try live.withdrawing(two.version, state).restoring(two.version) == live)
    }

    @Test("setting a channel back replaces what is above, and adding it again takes that back")
    func setting() throws {
        let back = try listing(one, two, three).setting(stable, to: [three])
        #expect(back.listed(in: stable).map(\.version) == [three.version])
        #expect(back.listed(in: stable)[0].replaces == [two.manifest])
        let further = try back.setting(stable, to: [one])
        #expect(further.listed(in: stable)[0].replaces == [two.manifest, three.manifest])
        let forward = try further.adding(two, to: stable)
        #expect(forward.listed(in: stable).map(\.replaces) == [[], [three.manifest]])
    }

    @Test("history says which replaced manifests are above, and what was removed")
    func history() throws {
        let back = try listing(one, two, three).setting(stable, to: [one])
        let forward = try back.setting(stable, to: [three], history: [two])
        #expect(forward.listed(in: stable)[0].replaces == [two.manifest])
        let removed = try listing(one).setting(stable, to: [one], history: [one, two, three])
        #expect(removed.listed(in: stable)[0].replaces == [two.manifest, three.manifest])
    }

    static let base: [PathStep] = ["channels", "stable", "versions"]

    static let broken = [
        Broken("a model that is no name", ["model"], .text("x"), named: "model"),
        Broken(
            "a channel in upper case",
            ["channels", "Beta"],
            .members(["versions": .array([])]),
            named: "channels.Beta"
        ),
        Broken(
            "a floor that is no version",
            ["channels", "stable", "floor"],
            .text("1"),
            named: "channels.stable.floor"
        ),
        Broken(
            "a rollout above all",
            base + [0, "rollout"],
            .integer(10_001),
            named: "channels.stable.versions[0].rollout"
        ),
        Broken("no rollout", base + [0, "rollout"], nil, named: "channels.stable.versions[0].rollout"),
        Broken("no replaces", base + [0, "replaces"], nil, named: "channels.stable.versions[0].replaces"),
        Broken(
            "a manifest that is no digest",
            base + [0, "manifest"],
            .text("1"),
            named: "channels.stable.versions[0].manifest"
        ),
        Broken("a version twice", base + [1, "version"], .text("1.0.0"), named: "channels.stable.versions"),
        Broken(
            "a manifest twice",
            base + [1, "manifest"],
            .text(String(repeating: "01", count: 32)),
            named: "channels.stable.versions"
        ),
        Broken(
            "a listed manifest that is replaced",
            base + [0, "replaces"],
            .array([.text(String(repeating: "02", count: 32))]),
            named: "channels.stable.versions"
        ),
        Broken("a state of no version", ["states", "x"], .members([:]), named: "states.x"),
        Broken(
            "a state that is unknown",
            ["states", "1.0.0"],
            .members(["state": .text("lost")]),
            named: "states.1.0.0.state"
        ),
    ]

    @Test("each rule that is broken is refused, by the member's name", arguments: broken)
    func rules(_ example: Broken) throws {
        let error = example.error(changing: try listing(one, two))
        #expect(error?.member == example.named, "\(String(describing: error))")
    }
}
