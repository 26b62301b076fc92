import Manifest
import Names
import Testing

@Suite("Version step")
struct VersionStepTests {
    static let applied: [(VersionStep, String, String)] = [
        (.patch, "1.4.2", "1.4.3"), (.minor, "1.4.2", "1.5.0"), (.major, "1.4.2", "2.0.0"),
        (.patch, "0.3.1", "0.3.2"), (.minor, "0.3.1", "0.4.0"), (.major, "0.3.1", "0.4.0"),
    ]

    @Test("each step leads to the smallest version that says so", arguments: applied)
    func next(_ step: VersionStep, _ base: String, _ next: String) throws {
        #expect(step.applied(to: try Samples.version(base)) == (try Samples.version(next)))
    }

    static let reached: [(VersionStep, String, String, Bool)] = [
        (.patch, "1.4.2", "1.4.3", true), (.minor, "1.4.2", "1.4.3", false), (.minor, "1.4.2", "1.5.0", true),
        (.minor, "1.4.2", "1.5.0-beta", true), (.major, "1.4.2", "1.9.0", false),
        (.major, "1.4.2", "2.0.0-rc.1", true), (.major, "1.4.2", "3.0.0", true),
        (.patch, "1.4.2", "1.4.2", false),
    ]

    @Test("a version reaches a step, or does not", arguments: reached)
    func reaches(_ step: VersionStep, _ base: String, _ version: String, _ answer: Bool) throws {
        #expect(step.isReached(by: try Samples.version(version), from: try Samples.version(base)) == answer)
    }

    @Test("the greatest change decides, and names its row")
    func decisive() throws {
        let old = Side(inputs: ["x: float32[1,4]"], outputs: ["y: float32[1]"])
        let new = Side(inputs: ["x: float32[1,8]"], outputs: ["y: float32[1]", "z: float32[1]"])
        let changes = ContractChanges(from: try old.interface(), to: try new.interface())
        #expect(changes.step == .major)
        #expect(
            changes.decisive.map(\.description) == [
                "input `x`: float32[1, 4] became float32[1, 8] (row 15, a size becomes fixed, or another: major)"
            ]
        )
        #expect(changes.changes.map(\.row) == [.sizeFixed, .outputAdded])
    }

    @Test("a variant that comes or changes its format is a minor step, and one that goes a major one")
    func variants() throws {
        let one = try Samples.manifest()
        var two = one
        var other = one.variants[0]
        other.name = try #require(VariantName("other"))
        two.variants.append(other)
        #expect(ContractChanges(from: one, to: two).step == .minor)
        let gone = ContractChanges(from: two, to: one)
        #expect(gone.step == .major)
        #expect(gone.decisive.map(\.row) == [.formatChanged])
        #expect(gone.decisive.first?.text.hasPrefix("variant other (") == true)
        #expect(ContractChanges(from: one, to: one).changes.isEmpty)
        two = one
        two.variants[0].requires.irVersion = 99
        #expect(ContractChanges(from: one, to: two).decisive.map(\.row) == [.requirementRaised])
        #expect(ContractChanges(from: two, to: one).step == .patch)
        two = one
        two.variants[0].interface = try Side.takes("q: int8[1]").interface()
        #expect(ContractChanges(from: one, to: two).step == .major)
    }

    @Test("what a machine must have more of is a minor step, and what it must have less of a patch")
    func machine() throws {
        let one = try Samples.manifest()
        let raises: [(String, @Sendable (inout Variant) -> Void)] = [
            ("memory, 20 bytes became 1000000000000 bytes", { $0.memory?.peak = 1_000_000_000_000 }),
            ("compute, cpu or gpu became gpu", { $0.compute = [.gpu] }),
            ("operators of ai.onnx, 15 became 21", { $0.requires.opsets["ai.onnx"] = 21 }),
            ("runtime, onnxruntime 1.24 became onnxruntime 1.30", { $0.requires.runtime?.minimum = "1.30" }),
            ("architecture, x86-64 became arm64", { $0.requires.architecture = "arm64" }),
        ]
        for (text, raise) in raises {
            var two = one
            raise(&two.variants[0])
            let changes = ContractChanges(from: one, to: two)
            #expect(changes.step == .minor && changes.decisive.map(\.row) == [.requirementRaised])
            #expect(changes.decisive.first?.text.hasSuffix(text) == true, "\(changes.changes)")
        }
        let lowers: [@Sendable (inout Variant) -> Void] = [
            { $0.memory?.peak = 11 }, { $0.memory = nil }, { $0.compute = [.cpu, .gpu, .npu] },
            { $0.compute = [.gpu, .cpu] }, { $0.requires.runtime?.minimum = "1.9" },
            { $0.requires.runtime?.minimum = nil }, { $0.requires.architecture = nil },
        ]
        for lower in lowers {
            var two = one
            lower(&two.variants[0])
            #expect(ContractChanges(from: one, to: two).step == .patch)
        }
    }
}
