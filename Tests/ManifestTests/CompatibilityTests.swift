import CanonicalJSON
import Manifest
import Names
import Testing

@Suite("Compatibility")
struct CompatibilityTests {
    static let table =
        Row.names + Row.types + Row.shapes + Row.labels + Row.functionLabels + Row.processing + Row.states
        + Row.machines

    @Test("each row of the table decides as it says", arguments: table)
    func verdicts(_ row: Row) throws {
        let manifest = try row.model.manifest()
        let verdict = Compatibility.verdict(
            try row.app.expectation(),
            manifest,
            variant: manifest.variants[0],
            on: row.app.machine
        )
        switch (row.answer, verdict) {
        case (.fits, .compatible): #expect(verdict.reasons.isEmpty)
        case (.fitsNoting(let text), .compatible(let notes)):
            #expect(notes.contains { $0.contains(text) }, "\(verdict)")
        case (.adapted(let text), .compatibleWithAdaptations(let adaptations, _)):
            #expect(adaptations.contains { $0.contains(text) }, "\(verdict)")
        case (.refused(let text), .incompatible(let findings)),
            (.notRunnable(let text), .notRunnable(let findings)):
            let found = findings.contains { $0.row?.rawValue == row.number && "\($0)".contains(text) }
            #expect(found, "\(verdict)")
        case (.unknown, .unknown(let findings)): #expect(findings.first?.row?.rawValue == row.number)
        default: Issue.record("\(verdict)")
        }
    }

    @Test("each row of the table asks for the step that it says", arguments: table.filter { $0.step != nil })
    func steps(_ row: Row) throws {
        let changes = ContractChanges(from: try row.app.manifest(), to: try row.model.manifest())
        #expect(changes.step == row.step, "\(changes.changes)")
    }

    @Test("there is an example of every row, in every direction that it has")
    func everyRow() {
        let directionless: Set = [23, 24, 25, 26, 27, 31, 32, 33, 34, 35, 36]
        let inputsOnly: Set = [3, 4, 28]
        let outputsOnly: Set = [7, 29]
        for row in ContractRow.allCases {
            let examples = Self.table.filter { $0.number == row.rawValue }
            #expect(!examples.isEmpty, "row \(row.rawValue)")
            if directionless.contains(row.rawValue) { continue }
            let wantsInput = !outputsOnly.contains(row.rawValue)
            let wantsOutput = !inputsOnly.contains(row.rawValue)
            #expect(examples.contains { !$0.app.inputs.isEmpty } == wantsInput, "row \(row.rawValue)")
            #expect(examples.contains { !$0.app.outputs.isEmpty } == wantsOutput, "row \(row.rawValue)")
        }
    }

    @Test("a function's values are compared as the default function's are")
    func functions() throws {
        let app = Side.takes().with { $0.functions = ["f": "float32[1]"] }
        let model = Side.takes().with { $0.functions = ["f": "float32[2]"] }
        let verdict = Compatibility.verdict(try app.expectation(), try model.interface())
        #expect(verdict.findings.map(\.subject) == ["function `f`, input `x`", "function `f`, output `y`"])
        let changes = ContractChanges(from: try app.interface(), to: try model.interface())
        #expect(changes.step == .major)
        #expect(changes.changes.map(\.row) == [.sizeFixed, .sizeFixed])
    }

    @Test("an app that says what it loads is judged by the variants that it would get")
    func formats() throws {
        var manifest = try Samples.manifest()
        var package = manifest.variants[0]
        package.name = try #require(VariantName("apple"))
        package.format = .coreMLPackage
        var other = manifest.interface
        other.inputs[0] = try Samples.feature("pixels", .fixed([1]))
        package.interface = other
        manifest.variants.append(package)
        var app = Manifest.Expectation.satisfied(by: manifest.interface)
        #expect(Compatibility.verdict(app, manifest).allowsUse)
        app.formats = [.onnx]
        #expect(Compatibility.verdict(app, manifest).allowsUse)
        // What its platform gets is another model for it, although the other variant would serve.
        app.formats = [.coreMLPackage, .tflite]
        let refused = Compatibility.verdict(app, manifest)
        #expect(!refused.allowsUse && refused.reasons.contains { $0.contains("pixels") }, "\(refused)")
        app = .satisfied(by: other)
        app.formats = [.coreMLPackage]
        #expect(Compatibility.verdict(app, manifest).allowsUse)
        app.formats = [.tflite]
        let found = Compatibility.verdict(app, manifest).findings.first { $0.row == .formatChanged }
        #expect(found?.description.contains("loads tflite") == true)
    }

    @Test("a version serves an app when one of its variants does")
    func variants() throws {
        var manifest = try Side.takes("x: float32[1]").manifest()
        var other = manifest.variants[0]
        other.name = try #require(VariantName("tflite"))
        other.format = .tflite
        other.interface = try Side.takes("x: int8[1]").interface()
        manifest.variants.append(other)
        let bytes = try Side.takes("x: int8[1]").expectation()
        #expect(Compatibility.verdict(bytes, manifest).allowsUse)
        let words = try Side.takes("x: string[1]").expectation()
        #expect(!Compatibility.verdict(words, manifest).allowsUse)
    }

    @Test("a version outside what the app accepts is refused, whatever its interface")
    func version() throws {
        let interface = try Samples.interface()
        let expectation = Manifest.Expectation.satisfied(
            by: interface,
            accepts: VersionRange(">=2.1 <3")
        )
        let verdict = Compatibility.verdict(expectation, interface, version: try Samples.version("3.0.0"))
        let reason =
            "version: the app accepts >=2.1 <3, the model is 3.0.0; widen `accepts` when the app is ready for it"
        #expect(verdict.reasons == [reason])
        #expect(
            Compatibility.verdict(expectation, interface, version: try Samples.version("2.1.0")).allowsUse
        )
    }

    @Test("a verdict can be printed, with every reason")
    func words() throws {
        let app = try Side.takes("x: float32[1]").expectation()
        let verdict = Compatibility.verdict(app, try Side.takes("z: float32[1]").interface())
        let said = """
            incompatible
              - input `z`: the app does not send it, the model needs float32[1]; send it, or stay with a version \
            that does not need it
              - input `x`: the app sends float32[1], the model has no input of that name: its inputs are `z`; send \
            what the model takes, or stay with a version that has it
            """
        #expect(verdict.description == said)
        #expect(verdict.json["verdict"]?.string == "incompatible")
        #expect(verdict.json["reasons"]?.array?.compactMap { $0["row"]?.integer } == [3, 2])
    }
}
