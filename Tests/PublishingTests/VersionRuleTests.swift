import Manifest
import Names
import Testing
import Trust

@testable import Publishing

@Suite("Version rule")
struct VersionRuleTests {
    private let model: ModelName

    init() throws { model = try #require(ModelName("vision/detector")) }

    private func version(_ text: String) throws -> ModelVersion { try #require(ModelVersion(text)) }

    private func rule(released versions: String...) throws -> VersionRule {
        var release = TargetsDocument(version: 1, expires: UnixTime(rawValue: 0), targets: [:])
        for version in versions {
            release.targets[TargetPath("vision/detector/\(version).json")] = TargetFile(of: [])
        }
        release.targets[TargetPath("vision/detector-two/9.0.0.json")] = TargetFile(of: [])
        return VersionRule(model, in: release)
    }

    private func changes(_ before: [String], _ after: [String]) throws -> ContractChanges {
        func interface(_ outputs: [String]) throws -> Interface {
            let type = ValueType.tensor(TensorType(element: .float32, shape: .fixed([1])))
            return Interface(
                inputs: [],
                outputs: try outputs.map { Feature(name: try #require(FeatureName($0)), type: type) }
            )
        }
        return ContractChanges(from: try interface(before), to: try interface(after))
    }

    @Test("the first version is 1.0.0 by itself, and at least 0.1.0 by choice")
    func first() throws {
        let rule = try rule()
        #expect(rule.predecessor(of: nil) == nil)
        #expect(rule.next(after: nil) == (try version("1.0.0")))
        try rule.check(try version("0.1.0"), after: nil)
        try rule.check(try version("7.3.1-beta"), after: nil)
        #expect {
            try rule.check(try version("0.0.9"), after: nil)
        } throws: {
            "\($0)".contains("at least 0.1.0")
        }
    }

    @Test("a version is compared with the greatest release below it, never with a pre-release")
    func predecessor() throws {
        let rule = try rule(released: "1.0.0", "1.4.2", "2.0.0", "2.1.0-beta")
        #expect(rule.predecessor(of: nil) == (try version("2.0.0")))
        #expect(rule.predecessor(of: try version("1.4.3")) == (try version("1.4.2")))
        #expect(rule.predecessor(of: try version("2.1.0")) == (try version("2.0.0")))
        #expect(rule.predecessor(of: try version("0.9.0")) == nil)
    }

    @Test("next is the smallest step that the changes allow")
    func next() throws {
        let rule = try rule(released: "1.4.2")
        let base = try version("1.4.2")
        #expect(rule.next(after: (base, try changes(["y"], ["y"]))) == (try version("1.4.3")))
        #expect(rule.next(after: (base, try changes(["y"], ["y", "z"]))) == (try version("1.5.0")))
        #expect(rule.next(after: (base, try changes(["y"], ["z"]))) == (try version("2.0.0")))
    }

    @Test("too small a step is refused with the row and the version that would do")
    func tooSmall() throws {
        let rule = try rule(released: "1.4.2")
        let base = try version("1.4.2")
        let gone = try changes(["y"], ["z"])
        try rule.check(try version("2.0.0"), after: (base, gone))
        try rule.check(try version("2.0.0-rc.1"), after: (base, gone))
        #expect {
            try rule.check(try version("1.5.0"), after: (base, gone))
        } throws: { error in
            let said = "\(error)"
            return said.contains("publish it as 2.0.0") && said.contains("output `y` is gone (row 2, ")
        }
    }

    @Test("the version that would do is one that is not taken")
    func taken() throws {
        let rule = try rule(released: "1.4.2", "1.5.0")
        #expect {
            try rule.check(
                try version("1.4.3"),
                after: (try version("1.4.2"), try changes(["y"], ["y", "z"]))
            )
        } throws: {
            "\($0)".contains("publish it as 1.6.0")
        }
    }

    @Test("a version put between others must leave the number of the one above true")
    func between() throws {
        let rule = try rule(released: "1.0.0", "1.2.0", "2.0.0-rc.1")
        #expect(rule.successor(of: try version("1.1.0")) == (try version("1.2.0")))
        #expect(rule.successor(of: try version("1.2.0-rc.1")) == nil)
        #expect(rule.successor(of: try version("1.3.0")) == nil)
        let next = try version("1.2.0")
        try rule.check(try version("1.1.0"), before: (next, try changes(["y"], ["y"])))
        try rule.check(try version("1.1.0"), before: (next, try changes(["y"], ["y", "z"])))
        #expect {
            try rule.check(try version("1.1.0"), before: (next, try changes(["y", "z"], ["y"])))
        } throws: { error in
            let said = "\(error)"
            return said.contains("would stand before 1.2.0") && said.contains("output `z` is gone (row 2, ")
                && said.contains("publish it above 1.2.0")
        }
    }

    @Test("below 1.0.0 a breaking change moves the minor number, and the refusal says so")
    func beforeOne() throws {
        let rule = try rule(released: "0.2.0")
        #expect {
            try rule.check(
                try version("0.2.1"),
                after: (try version("0.2.0"), try changes(["y"], ["z"]))
            )
        } throws: { error in
            let said = "\(error)"
            return said.contains("a breaking change, which below 1.0.0 the minor number says")
                && said.contains("publish it as 0.3.0") && !said.contains("major one")
        }
    }
}
