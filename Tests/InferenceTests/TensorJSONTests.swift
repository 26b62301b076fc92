import Inference
import Testing

@Suite("Tensors as JSON")
struct TensorJSONTests {
    private let ports = ModelPorts(
        inputs: Tensor.Element.allCases.map { Port(name: $0.rawValue, kind: .tensor($0, .unknownRank)) }
            + [
                Port(name: "é", kind: .tensor(.float32, .unknownRank)),
                Port(name: "list", kind: .other("sequence")),
            ],
        outputs: []
    )

    private func read(_ text: String) throws -> [String: Tensor] {
        try TensorJSON.inputs(Array(text.utf8), for: ports)
    }

    private func text(_ outputs: [String: ModelValue]) -> String {
        String(decoding: TensorJSON.text(of: outputs), as: UTF8.self)
    }

    @Test("the long form gives type, shape and data")
    func longForm() throws {
        let inputs = try read(
            """
            {"int32": {"type": "int32", "shape": [1, 3], "data": [0, -1, 2147483647]},
             "uint8": {"data": [[1, 2], [3, 255]], "shape": [2, 2]}}
            """
        )
        #expect(inputs["int32"] == (try Tensor([Int32(0), -1, .max], shape: [1, 3])))
        #expect(inputs["uint8"] == (try Tensor([UInt8(1), 2, 3, 255], shape: [2, 2])))
        #expect(inputs.count == 2)
    }

    @Test("the short form takes its type from the port and its shape from the nesting")
    func shortForm() throws {
        let inputs = try read(
            #"{"float32":[[0.5,-1e-3],[2,1E+2]],"bool":[true,false],"string":["a\u00e9\n"],"int64":7,"é":[]}"#
        )
        #expect(inputs["float32"] == (try Tensor([Float(0.5), -0.001, 2, 100], shape: [2, 2])))
        #expect(inputs["bool"] == (try Tensor([true, false], shape: [2])))
        #expect(inputs["string"] == (try Tensor(strings: ["aé\n"], shape: [1])))
        #expect(inputs["int64"] == (try Tensor([Int64(7)], shape: [])))
        #expect(inputs["é"] == (try Tensor([Float](), shape: [0])))
        #expect(try read(" {} ").isEmpty)
        #expect(try read(#"{"float32":[[],[]]}"#)["float32"]?.shape == [2, 0])
    }

    @Test("integers are exact to the last digit")
    func integers() throws {
        #expect(
            try read(#"{"int64":[-9223372036854775808,9223372036854775807]}"#)["int64"]?.values(
                as: Int64.self
            ) == [.min, .max]
        )
        #expect(try read(#"{"uint64":[18446744073709551615]}"#)["uint64"]?.values(as: UInt64.self) == [.max])
        #expect(try read(#"{"int8":[-0]}"#)["int8"]?.values(as: Int8.self) == [0])
    }

    @Test("floating point is rounded to the nearest, with NaN and the infinities as texts")
    func floats() throws {
        let tensor = try #require(
            try read(#"{"float32":[0.1,16777217,"NaN","Infinity","-Infinity"]}"#)["float32"]
        )
        let values = try tensor.values(as: Float.self)
        #expect(Array(values.prefix(2)) == [0.1, 16_777_216])
        #expect(values[2].isNaN && values[3] == .infinity && values[4] == -.infinity)
        #expect(
            try read(#"{"float16":[1,65504,"-Infinity"]}"#)["float16"]?.widened == [1, 65_504, -.infinity]
        )
        #expect(try read(#"{"bfloat16":[1.5]}"#)["bfloat16"]?.widened == [1.5])
        #expect(try read(#"{"float64":[1e308]}"#)["float64"]?.widened == [1e308])
    }

    @Test(
        "what is not exactly the form is refused",
        arguments: [
            "", "[]", "{", "{}x", "{,}", #"{"int32":}"#, #"{"int32":[1,]}"#, #"{"int32":[,1]}"#,
            #"{"int32":[1 2]}"#,
            #"{"int32":[1]"#, #"{"int32":[1]],"#, #"{"int32":[1],}"#, #"{"int32":[1],"int32":[1]}"#,
            #"{"int32":[1.0]}"#, #"{"int32":[1e0]}"#, #"{"int32":[2147483648]}"#, #"{"uint8":[-1]}"#,
            #"{"uint8":[256]}"#, #"{"int32":["1"]}"#, #"{"int32":[true]}"#, #"{"int32":[null]}"#,
            #"{"int32":[01]}"#,
            #"{"int32":[-]}"#, #"{"int32":[+1]}"#, #"{"float32":[.5]}"#, #"{"float32":[1.]}"#,
            #"{"float32":[1e]}"#,
            #"{"float32":[NaN]}"#, #"{"float32":["nan"]}"#, #"{"float32":[1e39]}"#, #"{"float64":[1e309]}"#,
            #"{"float16":[65520]}"#, #"{"bfloat16":[3.4e38]}"#, #"{"float32":[0x10]}"#, #"{"bool":[1]}"#,
            #"{"string":[1]}"#, #"{"string":["\q"]}"#, #"{"string":["\ud800"]}"#, "{\"string\":[\"a\nb\"]}",
            #"{"string":["a]}"#, #"{"string":["a\"#, #"{"float32":[[1],[2,3]]}"#, #"{"float32":[1,[2]]}"#,
            #"{"float32":[[1],2]}"#, #"{"float32":[[],[1]]}"#, #"{"float32":[[1],[]]}"#,
            #"{"float32":[[[]],[]]}"#,
            #"{"float32":{}}"#, #"{"float32":{"data":[1],"data":[1]}}"#,
            #"{"float32":{"data":[1],"more":1}}"#,
            #"{"float32":{"data":[1],"type":"float33"}}"#, #"{"float32":{"data":[1],"shape":[1.0]}}"#,
            #"{"float32":{"data":[1],"shape":[-1]}}"#, #"{"float32":{"data":[1],"shape":[[1]]}}"#,
            #"{"float32":{"data":[1],"shape":1}}"#, #"{"float32":{"data":[[1,2]],"shape":[2,1]}}"#,
            #"{"float32":{"data":[1],"shape":[99999999999999999999]}}"#,
        ]
    )
    func refused(text: String) {
        let error = #expect(throws: InferenceError.self) { try read(text) }
        guard case .text = error else {
            Issue.record("another error for \(text): \(String(describing: error))")
            return
        }
    }

    @Test("counts, unknown names and ports without tensors are said as such")
    func otherRefusals() {
        #expect(throws: InferenceError.count(shape: [2], expected: 2, found: 1, unit: "numbers")) {
            try read(#"{"float32":{"data":[1],"shape":[2]}}"#)
        }
        #expect(throws: InferenceError.shape([4_294_967_296, 4_294_967_296])) {
            try read(#"{"float32":{"data":[1],"shape":[4294967296,4294967296]}}"#)
        }
        #expect(throws: InferenceError.inputKind("list", expected: "sequence")) { try read(#"{"list":[1]}"#) }
        let decomposed = "{\"e\u{301}\":[1]}"
        let error = #expect(throws: InferenceError.self) { try read(decomposed) }
        guard case .unknownInput = error else {
            Issue.record("a name in another normal form was taken")
            return
        }
    }

    @Test("depth, length and invalid UTF-8 are refused before anything is built")
    func bounds() {
        let deep = "{\"float32\":" + String(repeating: "[", count: 100_000)
        #expect(throws: InferenceError.self) { try read(deep) }
        let long = [UInt8](repeating: 0x20, count: TensorJSON.maximumLength + 1)
        #expect(throws: InferenceError.self) { try TensorJSON.inputs(long, for: ports) }
        #expect(throws: InferenceError.self) {
            try TensorJSON.inputs(
                Array("{\"string\":[\"".utf8) + [0xFF, 0xFE] + Array("\"]}".utf8),
                for: ports
            )
        }
    }

    @Test("a document of many names is read in time that grows with its length", .timeLimit(.minutes(1)))
    func manyNames() {
        let names = (0..<100_000).map { "\"k\($0)\":[1]" }.joined(separator: ",")
        #expect(throws: InferenceError.unknownInput("k0", known: ports.inputs.map(\.name))) {
            try read("{\(names)}")
        }
        let error = #expect(throws: InferenceError.self) { try read("{\(names),\"k7\":[1]}") }
        #expect(error?.description.contains("'k7' stands twice") == true)
    }

    @Test("an error in a text names its place in the document, once")
    func place() {
        let text = #"{"string":["ok","a\q"]}"#
        #expect(throws: InferenceError.text(reason: "an unknown escape in text", offset: 19)) {
            try read(text)
        }
    }

    @Test("no damaged document crashes the reader")
    func damaged() throws {
        let whole = Array(
            #"{"float32":{"type":"float32","shape":[2,2],"data":[[1.5,-2e3],["NaN",0]]},"string":["a\u00e9\\"],"bool":true}"#
                .utf8
        )
        _ = try TensorJSON.inputs(whole, for: ports)
        for end in whole.indices { _ = try? TensorJSON.inputs(Array(whole[..<end]), for: ports) }
        var state: UInt64 = 20_260_729
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let alphabet = Array(#"{}[]",:\u0e-.+19tfn é"#.utf8)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...next(3) { bytes[next(bytes.count)] = alphabet[next(alphabet.count)] }
            _ = try? TensorJSON.inputs(bytes, for: ports)
        }
    }

    @Test("outputs have sorted keys and the fewest digits that read back")
    func outputs() throws {
        let outputs: [String: ModelValue] = [
            "b": .tensor(try Tensor([Float(0.1), 1e-5, .nan, -.infinity], shape: [2, 2])),
            "a": .tensor(try Tensor([Int64.min], shape: [])),
        ]
        #expect(
            text(outputs)
                == #"{"a":{"data":[-9223372036854775808],"shape":[],"type":"int64"},"#
                + #""b":{"data":[0.1,1e-05,"NaN","-Infinity"],"shape":[2,2],"type":"float32"}}"#
        )
        #expect(text([:]) == "{}")
    }

    @Test("the beginning of a long output is written no further than it is asked for")
    func beginning() throws {
        let long = ModelValue.tensor(try Tensor([UInt8](repeating: 7, count: 1 << 20), shape: [1 << 20]))
        let (text, isWhole) = TensorJSON.beginning(of: ["y": long], length: 20)
        #expect(text == #"{"y":{"data":[7,7,7,"#)
        #expect(!isWhole)
        var pieces = 0
        TensorJSON.write(["y": long]) { _ in
            pieces += 1
            return pieces < 2
        }
        #expect(pieces == 2, "of thirty")
        let short = ModelValue.tensor(try Tensor(strings: ["é"], shape: [1]))
        #expect(TensorJSON.beginning(of: ["y": short], length: 16).text == #"{"y":{"data":[""#)
        #expect(TensorJSON.beginning(of: ["y": short], length: 1_000).isWhole)
    }

    @Test("an output of many windows is written whole and in order")
    func windows() throws {
        let values = (0..<10_000).map { Int32($0) }
        let text = text(["y": .tensor(try Tensor(values, shape: [100, 100]))])
        #expect(
            text == #"{"y":{"data":["# + values.map(String.init).joined(separator: ",")
                + #"],"shape":[100,100],"type":"int32"}}"#
        )
    }

    @Test("sequences, maps, texts and bools have their forms")
    func otherOutputs() throws {
        let keys = try Tensor(strings: ["x\"\n"], shape: [1])
        let map = ModelValue.map(keys: keys, values: try Tensor([true], shape: [1]))
        #expect(
            text(["s": .sequence([map])])
                == #"{"s":{"sequence":[{"keys":{"data":["x\"\n"],"shape":[1],"type":"string"},"#
                + #""values":{"data":[true],"shape":[1],"type":"bool"}}]}}"#
        )
    }

    @Test("every float that is written reads back to the same bits")
    func roundTrip() throws {
        var state: UInt32 = 20_260_729
        var floats: [Float] = [0, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .pi]
        while floats.count < 2_000 {
            state = state &* 1_664_525 &+ 1_013_904_223
            let value = Float(bitPattern: state)
            if value.isFinite { floats.append(value) }
        }
        let tensor = try Tensor(floats, shape: [floats.count])
        #expect(
            try TensorJSON.inputs(TensorJSON.text(of: ["float32": .tensor(tensor)]), for: ports)["float32"]
                == tensor
        )
    }
}
