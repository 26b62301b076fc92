import Manifest
import Names
import Testing

@Suite("Compatibility")
struct CompatibilityTests {
    @Test(
        "what the app sends is accepted, and what the model gives can be read",
        arguments: Row.names + Row.types + Row.shapes + Row.labels
    )
    func table(_ row: Row) throws {
        let verdict = Compatibility.verdict(try row.app.expectation(), try row.model.interface())
        switch (row.answer, verdict) {
        case (.compatible, .compatible), (.adapted, .compatibleWithAdaptations): #expect(verdict.allowsUse)
        case (.incompatible(let reason), .incompatible(let reasons)):
            #expect(reasons.contains(reason), "\(verdict)")
            #expect(!verdict.allowsUse)
        default: Issue.record("\(verdict)")
        }
    }

    @Test("another default shape is a note, and other quantization a reason")
    func details() throws {
        var app = try Samples.interface()
        var model = app
        func change(_ interface: inout Interface, _ edit: (inout TensorType) -> Void) {
            guard case .tensor(var tensor) = interface.inputs[0].type else { return }
            edit(&tensor)
            interface.inputs[0].type = .tensor(tensor)
        }
        change(&model) { $0.defaultShape = [1, 2_048] }
        let noted = Compatibility.verdict(.satisfied(by: app), model)
        #expect(noted == .compatible(notes: ["input `x`: another default shape"]))
        change(&app) { $0.quantization = Quantization(scale: "0.5", zero: 0) }
        change(&model) { $0.quantization = Quantization(scale: "0.25", zero: 0) }
        #expect(!Compatibility.verdict(.satisfied(by: app), model).allowsUse)
    }

    @Test("an interface that a person declared is unknown, unless the app allows that")
    func declared() throws {
        var interface = try Samples.interface()
        var expectation = Manifest.Expectation.satisfied(by: interface)
        interface.isDeclared = true
        guard case .unknown = Compatibility.verdict(expectation, interface) else {
            Issue.record("not unknown")
            return
        }
        expectation.allowsUnknown = true
        #expect(Compatibility.verdict(expectation, interface).allowsUse)
    }

    @Test("a version outside what the app accepts is refused, whatever its interface")
    func version() throws {
        let interface = try Samples.interface()
        let expectation = Manifest.Expectation.satisfied(
            by: interface,
            accepts: VersionRange(">=2.1 <3")
        )
        let verdict = Compatibility.verdict(expectation, interface, version: try Samples.version("3.0.0"))
        #expect(verdict.reasons == ["the app accepts versions >=2.1 <3, this is 3.0.0"])
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
              - input `z`: the model needs it, and the app does not send it
              - input `x`: the app sends it, and the model has no input of that name
            """
        #expect(verdict.description == said)
    }
}
