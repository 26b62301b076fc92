import Inference
import Testing

@Suite("Inputs before a call")
struct InputCheckTests {
    private let ports = ModelPorts(
        inputs: [
            Port(
                name: "image",
                kind: .tensor(.uint8, [.symbol("N"), .fixed(3), .range(1, 8), .oneOf([2, 4])])
            ),
            Port(name: "ids", kind: .tensor(.int64, [.symbol("N"), .any])),
            Port(name: "scale", kind: .tensor(.float32, .unknownRank), isOptional: true),
            Port(name: "whole", kind: .tensor(.float32, .oneOf([[1, 2], [3]])), isOptional: true),
            Port(name: "list", kind: .other("sequence of float32[]"), isOptional: true),
        ],
        outputs: []
    )

    private func inputs() throws -> [String: Tensor] {
        [
            "image": try Tensor([UInt8](repeating: 0, count: 2 * 3 * 5 * 4), shape: [2, 3, 5, 4]),
            "ids": try Tensor([Int64](repeating: 0, count: 14), shape: [2, 7]),
        ]
    }

    private func error(_ change: (inout [String: Tensor]) throws -> Void) throws -> InferenceError? {
        var inputs = try inputs()
        try change(&inputs)
        do {
            try ports.check(inputs)
            return nil
        } catch {
            return error
        }
    }

    @Test("what fits passes, optional inputs or not")
    func fits() throws {
        #expect(try error { _ in } == nil)
        #expect(
            try error {
                $0["scale"] = try Tensor([Float(1)], shape: [])
                $0["whole"] = try Tensor([Float(1), 2], shape: [1, 2])
            } == nil
        )
    }

    @Test("an unknown name is refused, though it looks the same")
    func unknown() throws {
        let known = ["image", "ids", "scale", "whole", "list"]
        #expect(
            try error { $0["imagE"] = try Tensor([Float(1)], shape: []) }
                == .unknownInput("imagE", known: known)
        )
    }

    @Test("a required input must be there")
    func missing() throws {
        #expect(try error { $0["ids"] = nil } == .missingInput("ids", expected: "int64[N, ?]"))
    }

    @Test("the element type must be the port's")
    func element() throws {
        #expect(
            try error { $0["ids"] = try Tensor([Int32](repeating: 0, count: 2), shape: [2, 1]) }
                == .inputElement("ids", expected: .int64, found: .int32)
        )
    }

    @Test("the number of dimensions must be the port's")
    func rank() throws {
        #expect(
            try error { $0["ids"] = try Tensor([Int64](repeating: 0, count: 2), shape: [2]) }
                == .inputRank("ids", expected: "int64[N, ?]", found: [2])
        )
        #expect(
            try error { $0["whole"] = try Tensor([Float(1), 2], shape: [2]) }
                == .inputRank("whole", expected: "float32[1, 2] or [3]", found: [2])
        )
    }

    @Test(
        "fixed, ranged and enumerated lengths are kept",
        arguments: [
            ([2, 4, 5, 4], 1, "3"), ([2, 3, 0, 4], 2, "1...8"), ([2, 3, 9, 4], 2, "1...8"),
            ([2, 3, 5, 3], 3, "2|4"),
        ] as [([Int], Int, String)]
    )
    func dimensions(shape: [Int], axis: Int, expected: String) throws {
        let tensor = try Tensor([UInt8](repeating: 0, count: shape.reduce(1, *)), shape: shape)
        #expect(
            try error { $0["image"] = tensor }
                == .inputDimension("image", axis: axis, expected: expected, found: shape[axis])
        )
    }

    @Test("a symbol has one length in one call")
    func symbols() throws {
        #expect(
            try error { $0["ids"] = try Tensor([Int64](repeating: 0, count: 3), shape: [3, 1]) }
                == .inputSymbol("ids", symbol: "N", expected: 2, boundBy: "image", found: 3)
        )
    }

    @Test("a port that takes no tensor says what it takes")
    func kind() throws {
        #expect(
            try error { $0["list"] = try Tensor([Float(1)], shape: []) }
                == .inputKind("list", expected: "sequence of float32[]")
        )
    }

    @Test("the total size has a limit, texts included")
    func size() throws {
        let policy = InputPolicy(maximumBytes: 200)
        #expect(throws: InferenceError.inputsTooLarge(bytes: 232, limit: 200)) {
            try ports.check(try inputs(), policy: policy)
        }
        let text = ModelPorts(inputs: [Port(name: "t", kind: .tensor(.string, [.any]))], outputs: [])
        #expect(throws: InferenceError.inputsTooLarge(bytes: 6, limit: 5)) {
            try text.check(
                ["t": try Tensor(strings: ["abc", "def"], shape: [2])],
                policy: InputPolicy(maximumBytes: 5)
            )
        }
    }

    @Test("NaN and the infinities are refused when the policy says so")
    func notFinite() throws {
        let tensor = try Tensor([Float(0), .nan], shape: [2])
        let policy = InputPolicy(notFinite: .refused)
        var inputs = try inputs()
        inputs["scale"] = tensor
        try ports.check(inputs)
        #expect(throws: InferenceError.inputNotFinite("scale", at: 1)) {
            try ports.check(inputs, policy: policy)
        }
    }
}
