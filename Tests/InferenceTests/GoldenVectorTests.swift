import CanonicalJSON
import Inference
import Testing

@Suite("Golden vectors")
struct GoldenVectorTests {
    private let ports = ModelPorts(
        inputs: [
            Port(name: "x", kind: .tensor(.float32, [.symbol("n"), .fixed(2)])),
            Port(name: "mask", kind: .tensor(.bool, [.symbol("n")]), isOptional: true),
        ],
        outputs: [
            Port(name: "y", kind: .tensor(.float32, [.any, .fixed(3)])),
            Port(name: "label", kind: .tensor(.int64, [.any])),
            Port(name: "odd", kind: .other("a list")),
        ]
    )

    /// The bytes of a tensor as a manifest writes them.
    private func written(_ tensor: Tensor) -> JSONValue {
        var digits = ""
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var rest = tensor.bytes[...]
        while !rest.isEmpty {
            let group = rest.prefix(3)
            rest = rest.dropFirst(3)
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << ((3 - group.count) * 8)
            for place in 0..<4 {
                digits.append(place <= group.count ? alphabet[Int(bits >> (18 - place * 6) & 63)] : "=")
            }
        }
        return .members(["base64": .text(digits)])
    }

    private func floats(_ values: [Float], _ shape: [Int]) throws -> Tensor {
        try Tensor(values, shape: shape)
    }

    private func check(
        outputs: [String: JSONValue],
        _ others: [String: JSONValue] = [:],
        inputs: [String: JSONValue]? = nil
    ) throws -> JSONValue {
        var object = JSONObject()
        for (key, value) in others { object[key] = value }
        var given = JSONObject()
        for (key, value) in try inputs ?? ["x": written(try floats([1, 2, 3, 4], [2, 2]))] {
            given[key] = value
        }
        var expected = JSONObject()
        for (key, value) in outputs { expected[key] = value }
        object["inputs"] = .object(given)
        object["outputs"] = .object(expected)
        return .object(object)
    }

    private func vector(_ value: JSONValue, file: (String) -> [UInt8]? = { _ in nil }) throws -> GoldenVector
    {
        try GoldenVector(value, ports: ports, file: file)
    }

    private func differences(
        _ expected: [Float],
        _ found: [Float],
        _ others: [String: JSONValue] = [:]
    ) throws
        -> [String]
    {
        let vector = try vector(try check(outputs: ["y": written(try floats(expected, [1, 3]))], others))
        return vector.disagreements(with: ["y": .tensor(try floats(found, [1, 3]))])
    }

    @Test("a length that is left open follows from the elements, and a symbol has one length")
    func shapes() throws {
        let mask = try Tensor([true, false], shape: [2])
        let inputs = ["x": written(try floats([1, 2, 3, 4], [2, 2])), "mask": written(mask)]
        let value = try check(outputs: ["y": written(try floats([1, 2, 3], [1, 3]))], inputs: inputs)
        let vector = try vector(value)
        #expect(vector.inputs["x"]?.shape == [2, 2])
        #expect(vector.inputs["mask"]?.shape == [2])
        let wrong = [
            "x": written(try floats([1, 2, 3, 4], [2, 2])), "mask": written(try Tensor([true], shape: [1])),
        ]
        #expect(throws: InferenceError.self) {
            try self.vector(
                try check(outputs: ["y": written(try floats([1, 2, 3], [1, 3]))], inputs: wrong)
            )
        }
    }

    @Test("of shapes that are listed the one with as many elements is taken, however large the others are")
    func listedShapes() throws {
        let x = Port(name: "x", kind: .tensor(.float32, .oneOf([[1 << 40, 1 << 40], [3, 1], [2, 2]])))
        let value = try check(outputs: ["y": written(try floats([1, 2, 3], [1, 3]))])
        let listed = ModelPorts(inputs: [x], outputs: ports.outputs)
        let vector = try GoldenVector(value, ports: listed, file: { _ in nil })
        #expect(vector.inputs["x"]?.shape == [2, 2])
    }

    @Test("numbers agree within the tolerances, and not beyond")
    func tolerances() throws {
        #expect(try differences([1, 2, 3], [1.0005, 2, 3]) == [])
        #expect(try differences([1, 2, 3], [1.1, 2, 3]).count == 1)
        let loose: [String: JSONValue] = ["relative": .text("0"), "absolute": .text("0.2")]
        #expect(try differences([1, 2, 3], [1.1, 2, 3], loose) == [])
        #expect(try differences([1, 2, 3], [1.3, 2, 3], loose).count == 1)
        let exact: [String: JSONValue] = ["relative": .text("0"), "absolute": .text("0")]
        #expect(try differences([1, 2, 3], [1, 2, 3.0000002], exact).count == 1)
    }

    @Test("NaN agrees with NaN alone, and an infinity with itself")
    func special() throws {
        #expect(try differences([.nan, .infinity, 0], [.nan, .infinity, 0]) == [])
        #expect(try differences([1, 2, 3], [.nan, 2, 3]).count == 1)
        #expect(try differences([1, .infinity, 3], [1, -.infinity, 3]).count == 1)
        #expect(try differences([.nan, 2, 3], [1, 2, 3]).count == 1)
    }

    @Test("with argmax only the place of the greatest counts, row by row")
    func argmax() throws {
        let argmax: [String: JSONValue] = ["argmax": .bool(true)]
        #expect(try differences([0.1, 0.7, 0.2], [3, 9, 8], argmax) == [])
        #expect(
            try differences([0.1, 0.7, 0.2], [9, 3, 8], argmax)
                == ["the output 'y' is greatest at 0 in row 0, expected 1"]
        )
        #expect(try differences([0.1, 0.7, 0.2], [.nan, 3, 2], argmax) == [])
    }

    @Test("integers are compared exactly unless a tolerance is stated")
    func integers() throws {
        let expected = written(try Tensor([Int64(7), 8], shape: [2]))
        let found: [String: ModelValue] = ["label": .tensor(try Tensor([Int64(7), 9], shape: [2]))]
        #expect(try vector(try check(outputs: ["label": expected])).disagreements(with: found).count == 1)
        let loose = try check(outputs: ["label": expected], ["absolute": .text("1")])
        #expect(try vector(loose).disagreements(with: found) == [])
    }

    @Test("an answer that is missing, of another type or of another size is said")
    func other() throws {
        let vector = try vector(try check(outputs: ["y": written(try floats([1, 2, 3], [1, 3]))]))
        #expect(vector.disagreements(with: [:]) == ["the output 'y' is missing or no tensor"])
        let short: [String: ModelValue] = ["y": .tensor(try floats([1, 2], [2]))]
        #expect(vector.disagreements(with: short).count == 1)
        let integers: [String: ModelValue] = ["y": .tensor(try Tensor([Int32(1), 2, 3], shape: [1, 3]))]
        #expect(vector.disagreements(with: integers).count == 1)
    }

    @Test("a file's bytes are taken as they are, and one that is missing is said by name")
    func files() throws {
        let tensor = try floats([1, 2, 3], [1, 3])
        let value = try check(outputs: ["y": .members(["file": .text("checks/y.bin")])])
        let vector = try vector(value) { $0 == "checks/y.bin" ? tensor.bytes : nil }
        #expect(vector.disagreements(with: ["y": .tensor(tensor)]) == [])
        #expect(
            throws: InferenceError.golden(
                name: "y",
                reason: "stands in checks/y.bin, which is not among the files"
            )
        ) { try self.vector(value) }
    }

    @Test("strangers, odd lengths, lists and bad decimals are refused")
    func refused() throws {
        let good = written(try floats([1, 2, 3], [1, 3]))
        let wrong: [JSONValue] = [
            try check(outputs: ["z": good]), try check(outputs: ["odd": good]),
            try check(outputs: ["y": .members(["base64": .text("AAA=")])]),
            try check(outputs: ["y": .members(["base64": .text("?")])]),
            try check(outputs: ["y": .members([:])]),
            try check(outputs: ["y": good], inputs: ["stranger": good]),
            try check(outputs: ["y": good], ["relative": .text("-1")]),
            try check(outputs: ["y": good], ["absolute": .integer(1)]), try check(outputs: [:]), .null,
        ]
        for value in wrong { #expect(throws: InferenceError.self) { try vector(value) } }
    }

    @Test(
        "inputs and outputs with names beyond ASCII are found by their keys, each as its own bytes",
        arguments: ["größe", "出力", "\u{E9}", "e\u{301}", "50%"]
    )
    func names(_ name: String) throws {
        let port = Port(name: name, kind: .tensor(.float32, [.fixed(2)]))
        let ports = ModelPorts(inputs: [port], outputs: [port])
        let tensor = try floats([1, 2], [2])
        let check = WrittenCheck(name: "it", inputs: [name: tensor], outputs: [name: tensor])
        let value = check.canonical { written($0) }
        #expect(value.rfc8785 != nil)
        let vector = try GoldenVector(value, ports: ports) { _ in nil }
        #expect(vector.inputs.keys.map { Array($0.utf8) } == [Array(name.utf8)])
        #expect(vector.disagreements(with: [name: .tensor(tensor)]).isEmpty)
        let other = ModelPorts(inputs: [Port(name: "\u{E9}e\u{301}", kind: port.kind)], outputs: [port])
        #expect(throws: InferenceError.self) { try GoldenVector(value, ports: other) { _ in nil } }
    }
}
