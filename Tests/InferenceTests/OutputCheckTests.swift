import Inference
import Testing

@Suite("What a model gave against what it declares")
struct OutputCheckTests {
    private let ports = ModelPorts(
        inputs: [],
        outputs: [
            Port(name: "y", kind: .tensor(.float32, [.symbol("n"), .fixed(2)])),
            Port(name: "more", kind: .tensor(.string, .unknownRank), isOptional: true),
            Port(name: "list", kind: .other("sequence"), isOptional: true),
        ]
    )

    private func floats(_ shape: [Int]) throws -> ModelValue {
        .tensor(try Tensor([Float](repeating: 0, count: shape.reduce(1, *)), shape: shape))
    }

    private func check(_ outputs: [String: ModelValue], limit: Int = 1 << 20) throws(InferenceError) {
        try ports.check(outputs: outputs, policy: OutputPolicy(maximumBytes: limit))
    }

    @Test("what is declared is taken, whatever length a symbol has")
    func taken() throws {
        try check(["y": try floats([7, 2])])
        try check(["y": try floats([0, 2]), "more": .tensor(try Tensor(strings: ["a"], shape: [1, 1]))])
        try check(["y": try floats([1, 2]), "list": .sequence([try floats([3])])])
    }

    @Test("a missing, misnamed, mistyped or misshapen output is an error that names it")
    func wrong() throws {
        let declared = "float32[n, 2]"
        #expect(throws: InferenceError.output("y", expected: declared, found: "nothing")) { try check([:]) }
        #expect(throws: InferenceError.unknownOutput("z", known: ["y", "more", "list"])) {
            try check(["y": try floats([1, 2]), "z": try floats([1])])
        }
        #expect(throws: InferenceError.output("y", expected: declared, found: "int32[1, 2]")) {
            try check(["y": .tensor(try Tensor([Int32(1), 2], shape: [1, 2]))])
        }
        for (shape, found) in [([2], "float32[2]"), ([1, 3], "float32[1, 3]")] {
            #expect(throws: InferenceError.output("y", expected: declared, found: found)) {
                try check(["y": try floats(shape)])
            }
        }
        #expect(throws: InferenceError.output("y", expected: declared, found: "a sequence of 0")) {
            try check(["y": .sequence([])])
        }
    }

    @Test("names are compared as bytes")
    func bytes() throws {
        let ports = ModelPorts(
            inputs: [],
            outputs: [Port(name: "\u{E9}", kind: .tensor(.float32, .unknownRank))]
        )
        #expect(throws: InferenceError.unknownOutput("e\u{301}", known: ["\u{E9}"])) {
            try ports.check(outputs: ["e\u{301}": try floats([1])])
        }
    }

    @Test("all outputs together are held against the policy, texts and what is nested too")
    func size() throws {
        try check(["y": try floats([4, 2])], limit: 32)
        #expect(throws: InferenceError.outputsTooLarge("y", bytes: 32, limit: 31)) {
            try check(["y": try floats([4, 2])], limit: 31)
        }
        let text = ModelValue.tensor(try Tensor(strings: ["abc", "d"], shape: [2]))
        #expect(throws: InferenceError.outputsTooLarge("more", bytes: 36, limit: 35)) {
            try check(["more": text], limit: 35)
        }
        #expect(throws: InferenceError.outputsTooLarge("list", bytes: 36, limit: 35)) {
            try check(["list": .sequence([text])], limit: 35)
        }
    }

    @Test("a budget counts before anything is taken, and no count overflows it")
    func budget() throws {
        var budget = OutputBudget(OutputPolicy(maximumBytes: 100))
        try budget.take(12, of: 8, for: "y")
        #expect(throws: InferenceError.outputsTooLarge("y", bytes: 104, limit: 100)) {
            try budget.take(1, of: 8, for: "y")
        }
        try budget.take(4, of: 1, for: "y")
        for count in [Int.max, -1, 1 << 62] {
            #expect(throws: InferenceError.self) { try budget.take(count, of: 8, for: "y") }
        }
    }
}
