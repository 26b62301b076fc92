import CanonicalJSON
import Manifest
import Names
import Testing

@Suite("Expectation")
struct ExpectationTests {
    @Test("what was written is read back, and written the same")
    func roundTrip() throws {
        var expectation = Manifest.Expectation.satisfied(
            by: try InterfaceTests.everything(),
            of: try Samples.model(),
            accepts: VersionRange(">=2.1 <3")
        )
        expectation.adaptations = [.cast]
        expectation.formats = [.onnx, .tflite]
        expectation.tensors = TensorTable(count: 3, sha256: try Samples.digest(2))
        expectation.isPositional = true
        let read = try Manifest.Expectation(canonical: expectation.encoded())
        #expect(read == expectation)
        #expect(read.allowsUnknown)
    }

    static let broken = [
        Broken("a range outside the grammar", ["accepts"], .text("^2"), named: "accepts"),
        Broken("no inputs", ["inputs"], nil, named: "inputs"),
        Broken("an unknown adaptation", ["adaptations"], .array([.text("guess")]), named: "adaptations[0]"),
        Broken("an unknown format", ["formats"], .array([.text("pickle")]), named: "formats[0]"),
        Broken(
            "a format twice",
            ["formats"],
            .array([.text("onnx"), .text("onnx")]),
            named: "formats[1]"
        ),
        Broken("no format", ["formats"], .array([]), named: "formats"),
        Broken("a flag that is false", ["positional"], .bool(false), named: "positional"),
        Broken("a model that is no name", ["model"], .text("m"), named: "model"),
        Broken("an unknown member", ["app"], .text("x"), named: "app"),
    ]

    @Test("each rule that is broken is refused, by the member's name", arguments: broken)
    func rules(_ example: Broken) throws {
        let expectation = Manifest.Expectation.satisfied(by: try Samples.interface())
        #expect(example.error(changing: expectation)?.member == example.named)
    }

    @Test("an expectation made from an interface is satisfied by it")
    func drafted() throws {
        for interface in [try Samples.interface(), try InterfaceTests.everything()] {
            let verdict = Compatibility.verdict(.satisfied(by: interface), interface)
            #expect(verdict.allowsUse, "\(verdict)")
        }
    }

    @Test("a drafted expectation does not ask for optional inputs")
    func optional() throws {
        var interface = try Samples.interface()
        interface.inputs.append(try Samples.feature("W", .fixed([1]), optional: true))
        let drafted = Manifest.Expectation.satisfied(by: interface)
        #expect(drafted.inputs.map(\.name.description) == ["x"])
        #expect(drafted.outputs == interface.outputs)
    }
}

@Suite("Version range")
struct VersionRangeTests {
    static let cases: [(String, String, Bool)] = [
        (">=2.1 <3", "2.1.0", true),
        (">=2.1 <3", "2.0.9", false),
        (">=2.1 <3", "2.99.0", true),
        (">=2.1 <3", "3.0.0", false),
        (">=2.1 <3", "3.0.0-beta", false),
        (">=2.1 <3", "2.1.0-beta", false),
        (">=2.1 <3", "2.2.0-beta", true),
        ("<3.0.0-rc", "3.0.0-beta", true),
        (">1.0.0", "1.0.0", false),
        (">1.0.0", "1.0.1-a", true),
        ("<=1.2", "1.2.0", true),
        ("<=1.2", "1.2.1", false),
        ("=1.2.3", "1.2.3", true),
        ("=1.2.3", "1.2.3-a", false),
    ]

    @Test("comparators must all hold", arguments: cases)
    func contains(_ range: String, _ version: String, _ isIn: Bool) throws {
        let parsed = try #require(VersionRange(range))
        #expect(parsed.contains(try Samples.version(version)) == isIn)
        #expect(parsed.description == range)
    }

    @Test(
        "anything outside the grammar is refused",
        arguments: [
            "", " ", "2", "^2", "~2", ">= 2", ">=2  <3", ">=2 ", ">=2,<3", ">=x", ">=1.2.3.4", ">=01", "*",
            ">=1.2.3+b",
        ]
    )
    func refused(_ text: String) { #expect(VersionRange(text) == nil) }
}
