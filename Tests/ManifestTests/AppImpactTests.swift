import Manifest
import Names
import Testing

@Suite("What a version means for an app")
struct AppImpactTests {
    private func manifest(_ version: String, takes type: String) throws -> ModelManifest {
        var manifest = try Side.takes("x: \(type)").manifest()
        manifest.version = try Samples.version(version)
        return manifest
    }

    @Test("it breaks an app that could use the version before, and no other")
    func impact() throws {
        let app = try Side.takes("x: float32[2]").expectation()
        let fitting = try manifest("1.0.0", takes: "float32[2]")
        let other = try manifest("2.0.0", takes: "int8[2]")
        #expect(AppImpact(of: fitting, on: app, after: other) == .serves)
        #expect(AppImpact(of: fitting, on: app, after: nil) == .serves)
        let reasons = Compatibility.verdict(app, other).reasons
        #expect(!reasons.isEmpty)
        #expect(AppImpact(of: other, on: app, after: fitting) == .breaks(reasons))
        #expect(AppImpact(of: other, on: app, after: other) == .doesNotServe(reasons))
        #expect(AppImpact(of: other, on: app, after: nil) == .doesNotServe(reasons))
    }

    @Test("the version before is the nearest below it on its channel, else the greatest there")
    func versionBefore() throws {
        let model = try Samples.model()
        let stable = try #require(ChannelName("stable"))
        let beta = try #require(ChannelName("beta"))
        let empty = try #require(ChannelName("empty"))
        func listed(_ text: String, _ byte: UInt8) throws -> ListedVersion {
            ListedVersion(version: try Samples.version(text), manifest: try Samples.digest(byte))
        }
        let live = try LiveDocument(model: model).adding(listed("1.0.0", 1), to: stable)
            .adding(listed("1.2.0", 2), to: stable).adding(listed("3.0.0", 3), to: beta)
        func before(
            _ text: String,
            on channel: ChannelName?,
            _ live: LiveDocument?,
            _ released: [String] = []
        ) throws -> String? {
            let version = try Samples.version(text)
            let known = try released.map { try Samples.version($0) }
            return AppImpact.versionBefore(version, on: channel, in: live, released: known).map { "\($0)" }
        }
        #expect(try before("2.0.0", on: stable, live, ["1.0.0", "1.5.0", "3.0.0"]) == "1.2.0")
        #expect(try before("1.1.0", on: stable, live) == "1.0.0")
        #expect(try before("4.0.0", on: stable, live) == "1.2.0")
        #expect(try before("4.0.0", on: beta, live) == "3.0.0")
        #expect(try before("0.5.0", on: stable, live) == "1.2.0")
        #expect(try before("2.0.0", on: beta, live) == "3.0.0")
        // Nobody has anything from a channel that lists nothing, while others do.
        #expect(try before("2.0.0", on: empty, live, ["1.0.0"]) == nil)
        #expect(try before("3.0.0", on: beta, live, ["1.0.0"]) == nil)
        // One that is only released may come into use anywhere.
        #expect(try before("4.0.0", on: nil, live) == "3.0.0")
        #expect(try before("2.0.0", on: nil, live, ["1.5.0"]) == "1.2.0")
        // What is withdrawn, and what no device may take, serves nobody; nor does a trial's share, where all have more.
        let reason = VersionState(kind: .recalled, reason: "r", time: try Samples.time())
        let withdrawn = live.withdrawing(try Samples.version("1.2.0"), reason)
        #expect(try before("2.0.0", on: stable, withdrawn) == "1.0.0")
        for rollout in [0, 500] {
            let trial = try live.adding(listed("1.4.0", 4), to: stable, rollout: rollout)
            #expect(try before("2.0.0", on: stable, trial) == "1.2.0")
        }
        for channel in [nil, stable] {
            #expect(try before("2.0.0", on: channel, nil, ["1.0.0", "1.5.0", "2.0.0"]) == "1.5.0")
            #expect(try before("2.0.0", on: channel, LiveDocument(model: model), ["3.0.0"]) == "3.0.0")
            #expect(try before("2.0.0", on: channel, nil, ["2.0.0"]) == nil)
        }
    }

    @Test("what a channel offers no more is told, and who has nothing left there")
    func losses() throws {
        let stable = try #require(ChannelName("stable"))
        let beta = try #require(ChannelName("beta"))
        let fitting = try manifest("1.0.0", takes: "float32[2]")
        let other = try manifest("2.0.0", takes: "int8[2]")
        let one = ListedVersion(version: fitting.version, manifest: try Samples.digest(1))
        let two = ListedVersion(version: other.version, manifest: try Samples.digest(2))
        let before = try LiveDocument(model: try Samples.model()).adding(one, to: stable).adding(
            two,
            to: stable
        )
        .adding(one, to: beta)
        func state(_ kind: VersionState.Kind) throws -> VersionState {
            VersionState(kind: kind, reason: "r", time: try Samples.time())
        }
        func lost(_ after: LiveDocument) -> [String] {
            after.losses(since: before).map { "\($0.channel) \($0.lost) \($0.recalled) \($0.left)" }
        }
        #expect(lost(before).isEmpty)
        #expect(lost(try before.adding(two, to: beta)).isEmpty)
        let kept = "[\(other.version)]"
        #expect(
            lost(try before.removing([one.version], from: stable)) == ["stable [\(one.version)] [] \(kept)"]
        )
        #expect(lost(before.flooring(stable, at: two.version)) == ["stable [\(one.version)] [] \(kept)"])
        let yanked = ["beta [\(one.version)] [] []", "stable [\(one.version)] [] \(kept)"]
        #expect(lost(before.withdrawing(one.version, try state(.yanked))) == yanked)
        let recalled = try #require(
            before.withdrawing(one.version, try state(.recalled)).losses(since: before).first
        )
        #expect(recalled.recalled == [one.version])

        let app = (
            name: try #require(AppName("app")), expectation: try Side.takes("x: float32[2]").expectation()
        )
        let stranger = (
            name: try #require(AppName("b")), expectation: try Side.takes("x: int64[2]").expectation()
        )
        var losses = AppLosses([app, stranger])
        losses.lose(other, isRecalled: false)
        #expect(losses.isEmpty)
        losses.lose(fitting, isRecalled: true)
        #expect(losses.all.map(\.isRecalled) == [true])
        losses.lose(fitting, isRecalled: false)
        #expect(losses.all.map { "\($0.app) \($0.version) \($0.isRecalled)" } == ["app 1.0.0 false"])
        losses.keep(other)
        #expect(!losses.isEmpty)
        losses.keep(fitting)
        #expect(losses.isEmpty)
    }

    @Test("a share that narrows is a loss, one of nobody is none, and only the whole share makes up for it")
    func shares() throws {
        let stable = try #require(ChannelName("stable"))
        let one = ListedVersion(version: try Samples.version("1.0.0"), manifest: try Samples.digest(1))
        let two = ListedVersion(version: try Samples.version("1.0.1"), manifest: try Samples.digest(2))
        let empty = LiveDocument(model: try Samples.model())
        func live(_ first: Int, _ second: Int) throws -> LiveDocument {
            try empty.adding(one, to: stable, rollout: first).adding(two, to: stable, rollout: second)
        }
        func lost(_ after: LiveDocument, _ before: LiveDocument) -> [String] {
            after.losses(since: before).map { "\($0.lost.map(\.description)) \($0.left.map(\.description))" }
        }
        let yanked = VersionState(kind: .yanked, reason: "r", time: try Samples.time())
        for share in [0, 5_000] {
            let before = try live(10_000, share)
            #expect(lost(before.withdrawing(one.version, yanked), before) == [#"["1.0.0"] []"#])
            #expect(lost(try live(share, 10_000), before) == [#"["1.0.0"] ["1.0.1"]"#])
        }
        let before = try live(10_000, 0)
        #expect(lost(try live(9_999, 0), before) == [#"["1.0.0"] []"#])
        #expect(lost(before.withdrawing(two.version, yanked), before).isEmpty)
        #expect(lost(try live(10_000, 5_000), before).isEmpty)
        #expect(before.offeredToAll(in: stable).map(\.version) == [one.version])
    }

    @Test("what enters a channel is told for each channel, by what its manifest was before")
    func entered() throws {
        let stable = try #require(ChannelName("stable"))
        let beta = try #require(ChannelName("beta"))
        let one = ListedVersion(version: try Samples.version("1.0.0"), manifest: try Samples.digest(1))
        let two = ListedVersion(version: try Samples.version("2.0.0"), manifest: try Samples.digest(2))
        let before = try LiveDocument(model: try Samples.model()).adding(one, to: stable)
        let after = try before.adding(two, to: stable).adding(one, to: beta).adding(two, to: beta)
        let entered = after.entered(since: before).map { "\($0.channel) \($0.version)" }
        #expect(entered == ["beta 1.0.0", "beta 2.0.0", "stable 2.0.0"])
        #expect(after.entered(since: nil).count == 4 && after.entered(since: after).isEmpty)
    }
}
