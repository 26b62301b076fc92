import Manifest
import Testing

@Suite("Symbols are the sizes that are sent")
struct SymbolBindingTests {
    /// Whether an app fits a model, and how great a step from its own model that one is.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let app: Side
        let model: Side
        let row: ContractRow?
        let step: VersionStep

        init(_ text: String, _ app: Side, _ model: Side, _ row: ContractRow?, _ step: VersionStep) {
            testDescription = text
            self.app = app
            self.model = model
            self.row = row
            self.step = step
        }
    }

    private static func side(_ input: String, _ output: String) -> Side {
        Side(inputs: ["x: float32[\(input)]"], outputs: ["y: float32[\(output)]"])
    }

    static let cases = [
        Case("one size", side("2,4", "2,3"), side("n,4", "n,3"), nil, .minor),
        Case("a batch of one that became free", side("1,4", "1,3"), side("n,4", "n,3"), nil, .minor),
        Case("one size, read as another", side("2,4", "1,3"), side("n,4", "n,3"), .sizeFixed, .major),
        Case("one of two sizes", side("1|2,4", "1|2,3"), side("n,4", "n,3"), nil, .minor),
        Case(
            "one of two sizes, and one is read",
            side("1|2,4", "1,3"),
            side("n,4", "n,3"),
            .rangeChanged,
            .major
        ),
        Case("a range", side("1..8,4", "1..8,3"), side("n,4", "n,3"), nil, .minor),
        Case(
            "a range, and less is read",
            side("1..8,4", "1..4,3"),
            side("n,4", "n,3"),
            .rangeChanged,
            .major
        ),
        Case(
            "a range under two symbols",
            side("1..8,4", "1..8,3"),
            side("n,4", "m,3"),
            .rangeChanged,
            .major
        ),
        Case("one size under two symbols", side("2,4", "2,3"), side("n,4", "m,3"), .sizeFreed, .major),
        Case("any size", side("b,4", "2,3"), side("n,4", "n,3"), .sizeFreed, .major),
        Case("whole shapes", side("1,4 or 2,4", "1,3 or 2,3"), side("n,4", "n,3"), nil, .minor),
        Case(
            "a symbol in two inputs",
            Side(inputs: ["x: float32[2,4]", "z: int64[2]"], outputs: ["y: float32[2,2]"]),
            Side(inputs: ["x: float32[n,4]", "z: int64[n]"], outputs: ["y: float32[n,n]"]),
            nil,
            .minor
        ),
        Case(
            "one input says any size, the other which",
            Side(inputs: ["x: float32[1|2]", "z: int64[2]"], outputs: ["y: float32[2]"]),
            Side(inputs: ["x: float32[m]", "z: int64[n]"], outputs: ["y: float32[n]"]),
            nil,
            .minor
        ),
        Case(
            "an input that is not always sent",
            Side(inputs: ["x?: float32[2]"], outputs: ["y: float32[2]"]),
            Side(inputs: ["x?: float32[n]"], outputs: ["y: float32[n]"]),
            .sizeFreed,
            .major
        ),
        Case(
            "inside a list",
            Side(inputs: ["x: float32[2]"], outputs: ["y: list of float32[2]"]),
            Side(inputs: ["x: float32[n]"], outputs: ["y: list of float32[n]"]),
            nil,
            .minor
        ),
        Case(
            "one size by way of two inputs",
            Side(inputs: ["x: float32[b]", "z: int64[b]"], outputs: ["y: float32[b]"]),
            Side(inputs: ["x: float32[m]", "z: int64[n]"], outputs: ["y: float32[n]"]),
            nil,
            .minor
        ),
        Case(
            "one size by way of an input that is not always sent",
            Side(inputs: ["x?: float32[b]", "z: int64[b]"], outputs: ["y: float32[b]"]),
            Side(inputs: ["x?: float32[m]", "z: int64[n]"], outputs: ["y: float32[m]"]),
            .symbolsMerged,
            .major
        ),
        Case(
            "a size that is not always sent, and read as such",
            Side(inputs: ["x?: float32[b]"], outputs: ["y: float32[b]"]),
            Side(inputs: ["x?: float32[n]"], outputs: ["y: float32[n]"]),
            nil,
            .patch
        ),
        Case(
            "whole shapes of unequal sizes, and only equal ones are taken",
            side("1,4 or 2,8", "3"),
            side("n,n", "3"),
            .symbolsMerged,
            .major
        ),
        Case("whole shapes of equal sizes", side("1,1 or 2,2", "3"), side("n,n", "3"), nil, .minor),
        Case("one size, read as any", side("1,4", "m,3"), side("n,4", "n,3"), nil, .minor),
        Case(
            "two outputs of one size",
            Side(inputs: ["x: float32[2]"], outputs: ["y: float32[b]", "z: float32[b]"]),
            Side(inputs: ["x: float32[n]"], outputs: ["y: float32[n]", "z: float32[2]"]),
            nil,
            .major
        ),
    ]

    @Test("an app fits when all that it gets for what it sends is read", arguments: cases)
    func verdicts(_ example: Case) throws {
        let verdict = Compatibility.verdict(try example.app.expectation(), try example.model.interface())
        switch (verdict, example.row) {
        case (.compatible, nil): break
        case (.incompatible(let findings), let row?):
            #expect(findings.contains { $0.row == row }, "\(verdict)")
        default: Issue.record("\(verdict)")
        }
    }

    @Test("a step is major only if some app of the model before may not live with it", arguments: cases)
    func steps(_ example: Case) throws {
        let changes = ContractChanges(from: try example.app.interface(), to: try example.model.interface())
        #expect(changes.step == example.step, "\(changes.changes)")
    }

    @Test("the same holds in each function")
    func functions() throws {
        let old = Side().with { $0.functions = ["f": "float32[2,4]"] }
        let new = Side().with { $0.functions = ["f": "float32[n,4]"] }
        #expect(Compatibility.verdict(try old.expectation(), try new.interface()).allowsUse)
        #expect(ContractChanges(from: try old.interface(), to: try new.interface()).step == .minor)
    }
}
