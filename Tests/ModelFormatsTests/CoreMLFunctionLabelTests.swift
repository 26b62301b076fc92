import CanonicalJSON
import Manifest
import ModelFormats
import Names
import Testing

@Suite("Core ML: the class labels of each function")
struct CoreMLFunctionLabelTests {
    private struct Function {
        let name: String
        var labels: [String] = []
        var predicted = Wire.message(3, .message(3))

        static func classifier(_ name: String, _ labels: String...) -> Function {
            Function(name: name, labels: labels)
        }

        /// FunctionDescription: 1 name, 2 inputs, 3 outputs, 4 the name of what is predicted.
        var description: Wire {
            .message(
                20,
                .text(1, name),
                .message(2, .text(1, "x"), CoreML.array()),
                .message(3, .text(1, "c"), predicted),
                .text(4, "c")
            )
        }

        /// An entry of `Program.functions`: inputs at 1, and one block with the classifier at 3.
        var content: Wire {
            let values = Wire.message(1, .message(4, labels.map { .text(1, $0) }))
            let constant = Wire.message(
                3,
                .text(1, "const"),
                .message(3, .text(1, "names")),
                .message(5, .text(1, "val"), .message(2, .message(3, values)))
            )
            let classify = Wire.message(
                3,
                .text(1, "classify"),
                .message(2, .text(1, "classes"), .message(2, .message(1, .text(1, "names")))),
                .message(3, .text(1, "c"))
            )
            let operations = labels.isEmpty ? [] : [constant, classify]
            let block = Wire.message(3, .text(1, "CoreML8"), .message(2, operations))
            return .message(2, .text(1, name), .message(2, .message(1, .text(1, "x")), block))
        }
    }

    private func inspect(
        _ functions: Function...,
        limits: FormatLimits = FormatLimits()
    ) throws -> Interface {
        let name = try #require(functions.first?.name)
        let model = CoreML.model(
            version: 9,
            description: functions.map(\.description) + [.text(21, name)],
            .message(502, functions.map(\.content))
        )
        let source = MemorySource(model.bytes)
        let interface = try ModelFile.inspect(source: source, name: "m.mlmodel", limits: limits).interface
        #expect(try Interface(json: interface.json) == interface)
        return interface
    }

    private let first = Function.classifier("one", "a", "b")
    private let second = Function.classifier("two", "p", "q")

    @Test("two functions that classify differently each keep their labels")
    func both() throws {
        let found = try inspect(first, second)
        #expect(found.labels == texts("a", "b"))
        #expect(found.functions.map(\.labels) == [texts("p", "q")])
        let same = try inspect(first, .classifier("two", "a", "b"))
        #expect(same.labels == texts("a", "b"))
        #expect(same.functions.map(\.labels) == [texts("a", "b")])
    }

    @Test("the labels of another function are not the model's")
    func other() throws {
        let found = try inspect(Function(name: "plain"), second)
        #expect(found.labels == nil)
        #expect(found.functions.map(\.labels) == [texts("p", "q")])
        let changed = try inspect(Function(name: "plain"), .classifier("two", "p", "r"))
        var app = Manifest.Expectation.satisfied(by: found)
        #expect(!Compatibility.verdict(app, changed).allowsUse)
        app.functions = []
        #expect(Compatibility.verdict(app, changed) == .compatible(notes: []))
    }

    @Test("a changed list of the default function is seen beside another one's")
    func changed() throws {
        let old = try inspect(first, second)
        let new = try inspect(.classifier("one", "a", "z"), second)
        let verdict = Compatibility.verdict(.satisfied(by: old), new)
        #expect(verdict.findings.map(\.row) == [.labelGone], "\(verdict)")
        let changes = ContractChanges(from: old, to: new)
        #expect(changes.step == .major && changes.changes.map(\.row) == [.labelGone], "\(changes)")
    }

    @Test("a function more that classifies otherwise takes nothing away")
    func added() throws {
        let (old, new) = (try inspect(first), try inspect(first, second))
        #expect(Compatibility.verdict(.satisfied(by: old), new) == .compatible(notes: []))
        let changes = ContractChanges(from: old, to: new)
        #expect(changes.step == .minor && changes.changes.map(\.row) == [.functionsChanged], "\(changes)")
    }

    @Test("the labels of all functions have room in one manifest")
    func room() throws {
        var limits = FormatLimits()
        limits.labelBytes = 16
        #expect(try inspect(first, second, limits: limits).labels == texts("a", "b"))
        limits.labelBytes = 15
        let error = #expect(throws: FormatError.self) { try inspect(first, second, limits: limits) }
        guard case .limit(_, "bytes of class labels", _, 16, 15) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("what a function predicts is of the kind of its labels")
    func kinds() throws {
        var wrong = second
        wrong.predicted = .message(3, .message(1))
        let error = #expect(throws: FormatError.self) { try inspect(first, wrong) }
        guard case .malformed(_, _, _, .contradiction) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        wrong.labels = []
        #expect(try inspect(first, wrong).functions.map(\.labels) == [nil])
    }
}
