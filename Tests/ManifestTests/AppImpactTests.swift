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

    @Test("the version before is the nearest below it on any channel, else the greatest, else a released one")
    func versionBefore() throws {
        let model = try Samples.model()
        let stable = try #require(ChannelName("stable"))
        let beta = try #require(ChannelName("beta"))
        let one = ListedVersion(version: try Samples.version("1.0.0"), manifest: try Samples.digest(1))
        let three = ListedVersion(version: try Samples.version("3.0.0"), manifest: try Samples.digest(3))
        let live = try LiveDocument(model: model).adding(one, to: stable).adding(three, to: beta)
        func before(_ text: String, _ live: LiveDocument?, _ released: [String] = []) throws -> String? {
            let version = try Samples.version(text)
            let known = try released.map { try Samples.version($0) }
            return AppImpact.versionBefore(version, in: live, released: known).map { "\($0)" }
        }
        #expect(try before("2.0.0", live, ["1.0.0", "1.5.0", "3.0.0"]) == "1.0.0")
        #expect(try before("4.0.0", live) == "3.0.0")
        #expect(try before("0.5.0", live) == "3.0.0")
        #expect(try before("1.0.0", live) == "3.0.0")
        #expect(try before("2.0.0", nil, ["1.0.0", "1.5.0", "2.0.0"]) == "1.5.0")
        #expect(try before("2.0.0", LiveDocument(model: model), ["3.0.0"]) == "3.0.0")
        #expect(try before("2.0.0", nil, ["2.0.0"]) == nil)
    }
}
