import CanonicalJSON
import Inference
import Names
import Testing

@Suite("Golden vectors as people write them")
struct WrittenCheckTests {
    private let ports = ModelPorts(
        inputs: [
            Port(name: "x", kind: .tensor(.float32, [.any, .fixed(2)])),
            Port(name: "mask", kind: .tensor(.bool, [.any, .any]), isOptional: true),
        ],
        outputs: [
            Port(name: "y", kind: .tensor(.float32, [.any, .fixed(3)])),
            Port(name: "label", kind: .tensor(.int64, [.any])), Port(name: "odd", kind: .other("a list")),
        ]
    )

    private func checks(_ members: String, type: String = CheckDocument.type) throws -> [WrittenCheck] {
        try CheckDocument.checks(
            Array("{\"type\": \"\(type)\", \"checks\": [\(members)]}".utf8),
            for: ports,
            named: "c.json"
        )
    }

    /// The check in `members`, checked, and as it comes out of a manifest again.
    private func settled(_ members: String) throws -> (WrittenCheck, JSONValue) {
        let check = try checks(members)[0]
        try check.check(against: ports)
        let value = check.canonical { JSONValue.members(["base64": .text(Base64.text($0.bytes))]) }
        let read = try GoldenVector.inputs(of: value, ports: ports) { _ in nil }
        try check.checkShapes(read, ports: ports)
        return (check, value)
    }

    private func refusal(_ members: String) -> String {
        do {
            _ = try settled(members)
            return "taken"
        } catch { return "\(error)" }
    }

    @Test("inputs, outputs and tolerances become one of a manifest's checks, and agree with themselves")
    func canonical() throws {
        let (check, value) = try settled(
            #"{"name": "a cat", "inputs": {"x": [[1, 2], [3, 4]]}, "outputs": {"y": [[1, 2, 3], [4, 5, 6]]},"#
                + #" "relative": 0.01, "absolute": "0.5"}"#
        )
        #expect(check.name == "c.json, check 0 (a cat)")
        #expect(value["relative"]?.string == "0.01" && value["absolute"]?.string == "0.5")
        let vector = try GoldenVector(value, ports: ports) { _ in nil }
        #expect(vector.inputs == check.inputs)
        let y = try #require(check.outputs["y"])
        #expect(vector.disagreements(with: ["y": .tensor(y)]).isEmpty)
        let far = try Tensor([Float(1), 2, 3, 4, 5, 7], shape: [2, 3])
        #expect(
            vector.disagreements(with: ["y": .tensor(far)])
                == [
                    "the output 'y' is 7.0 at element 5, expected 6.0 within 0.5 + 0.01 × it; 1 of 6 differ, this one "
                        + "most"
                ]
        )
    }

    @Test("the worst element is named, and NaN is worse than any number")
    func worst() throws {
        let (_, value) = try settled(#"{"inputs": {"x": [[1, 2]]}, "outputs": {"y": [[1, 2, 3]]}}"#)
        let vector = try GoldenVector(value, ports: ports) { _ in nil }
        let found = vector.disagreements(with: ["y": .tensor(try Tensor([Float(2), 9, 3], shape: [1, 3]))])
        #expect(found.first?.contains("is 9.0 at element 1, expected 2.0") == true, "\(found)")
        #expect(found.first?.contains("2 of 3 differ") == true, "\(found)")
        let nan = vector.disagreements(with: [
            "y": .tensor(try Tensor([Float(900), 2, .nan], shape: [1, 3]))
        ])
        #expect(nan.first?.contains("is nan at element 2") == true, "\(nan)")
    }

    @Test("a check without outputs is one to be recorded, with empty ones it is a mistake")
    func open() throws {
        #expect(try checks(#"{"inputs": {"x": [[1, 2]]}}"#)[0].isOpen)
        #expect(refusal(#"{"inputs": {"x": [[1, 2]]}, "outputs": {}}"#).contains("empty outputs"))
    }

    @Test("lengths of an output may differ where its symbols are one, as in a call")
    func symbols() throws {
        let square = Port(name: "y", kind: .tensor(.float32, [.symbol("n"), .symbol("n")]))
        let ports = ModelPorts(
            inputs: [Port(name: "x", kind: .tensor(.float32, [.any, .fixed(2)]))],
            outputs: [square]
        )
        func written(_ output: String) throws -> WrittenCheck {
            try checks("{\"inputs\": {\"x\": [[1, 2]]}, \"outputs\": {\"y\": \(output)}}")[0]
        }
        try written("[[1, 2, 3]]").check(against: ports)
        let flat = try written("[1, 2, 3]")
        #expect(throws: InferenceError.self) { try flat.check(against: ports) }
    }

    @Test(
        "what does not fit the model, or says nothing, is refused",
        arguments: [
            (#"{"inputs": {"z": [1]}}"#, "'z' is none of the model's: x, mask"),
            (#"{"inputs": {"x": [[1, 2]]}, "outputs": {"z": [1]}}"#, "'z' is none of the model's: y, label"),
            (#"{"inputs": {"mask": [[true]]}}"#, "the input 'x' is missing"),
            (#"{"inputs": {"x": [[1, 2, 3]]}}"#, "dimension 1 of the input 'x' is 3"),
            (#"{"inputs": {"x": {"type": "float64", "data": [[1, 2]]}}}"#, "holds float64"),
            (#"{"inputs": {"x": [[1, 2]]}, "outputs": {"y": [[1, 2]]}}"#, "is float32[1, 2]"),
            (
                #"{"inputs": {"x": [[1, 2]]}, "outputs": {"y": {"type": "int32", "data": [[1, 2, 3]]}}}"#,
                "is int32[1, 3]; the model gives float32"
            ),
            (#"{"inputs": {"x": [[1, 2]]}, "outputs": {"odd": [1]}}"#, "odd"),
            (#"{"inputs": {"x": [[1, 2]], "x": [[1, 2]]}}"#, "'x' stands twice"),
            (#"{"inputs": {"x": [[1, 2]]}, "inputs": {"x": [[1, 2]]}}"#, "'inputs' stands twice"),
            (#"{"inputs": {}}"#, "no inputs"), ("{}", "no inputs"), ("1", "'{' is missing"),
            (#"{"inputs": {"x": [[1, 2]]}, "tolerance": 1}"#, "'tolerance' is none of"),
            (#"{"inputs": {"x": [[1, 2]]}, "relative": -0.1}"#, "'relative' must be a decimal number"),
            (#"{"inputs": {"x": [[1, 2]]}, "relative": 1e-3}"#, "'relative' must be a decimal number"),
            (#"{"inputs": {"x": [[1, 2]]}, "absolute": "NaN"}"#, "'absolute' must be a decimal number"),
            (#"{"inputs": {"x": [[1, 2]]}, "relative": 1.5}"#, "is above 1"),
            (#"{"inputs": {"x": [[1, 2]]}, "argmax": true, "absolute": 1}"#, "does not go with argmax"),
            (#"{"inputs": {"x": [[1, 2]]}, "argmax": 1}"#, "'false' is missing"),
            (
                #"{"inputs": {"x": [[1, 2]]}, "outputs": {"y": [["NaN", "NaN", "NaN"]]}, "argmax": true}"#,
                "nothing but NaN in row 0"
            ),
            (#"{"inputs": {"x": {"shape": [4294967296, 2], "data": []}}}"#, "needs"),
            (#"{"inputs": {"x": {"shape": [9007199254740993, 9007199254740993], "data": []}}}"#, "shape"),
            (#"{"inputs": {"x": {"shape": [-1, 2], "data": []}}}"#, "a shape is a list of whole numbers"),
            (#"{"inputs": {"x": [[1, 2]], "mask": [[true], [true]]}}"#, "all but the last must be 1"),
        ]
    )
    func refused(_ members: String, _ reason: String) {
        let found = refusal(members)
        #expect(found.contains(reason), "\(found)")
    }

    @Test("a document is bounded and of its type")
    func documents() {
        #expect(throws: InferenceError.self) { try checks("") }
        #expect(throws: InferenceError.self) { try checks(#"{"inputs": {"x": [[1, 2]]}}"#, type: "other") }
        let many = Array(repeating: #"{"inputs": {"x": [[1, 2]]}}"#, count: CheckDocument.most + 1)
        #expect(throws: InferenceError.self) { try checks(many.joined(separator: ",")) }
        #expect(throws: InferenceError.self) {
            try CheckDocument.checks(
                [UInt8](repeating: 0x20, count: TensorJSON.maximumLength + 1),
                for: ports,
                named: "c.json"
            )
        }
    }

    @Test("NaN of an expected output is an expectation where argmax does not ask for more")
    func expectedNaN() throws {
        let (_, value) = try settled(
            #"{"inputs": {"x": [[1, 2]]}, "outputs": {"y": [["NaN", "Infinity", 3]]}}"#
        )
        let vector = try GoldenVector(value, ports: ports) { _ in nil }
        let same = try Tensor([Float.nan, .infinity, 3], shape: [1, 3])
        #expect(vector.disagreements(with: ["y": .tensor(same)]).isEmpty)
    }
}
