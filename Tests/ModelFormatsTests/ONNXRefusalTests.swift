import Manifest
import ModelFormats
import Names
import Testing

func inspect(_ bytes: [UInt8], limits: FormatLimits = FormatLimits()) throws(FormatError) -> Inspection {
    try ModelFile.inspect(source: MemorySource(bytes), name: "model.onnx", limits: limits)
}

@Suite("ONNX files that are refused")
struct ONNXRefusalTests {
    static let hostile: [(String, FormatError)] = [
        ("onnx_group", .malformed(.onnx, field: "model", offset: 0, .group)),
        ("onnx_len_overflow", .malformed(.onnx, field: "model", offset: 0, .endsEarly)),
        ("onnx_truncated", .malformed(.onnx, field: "graph", offset: 2, .beyondParent)),
        ("onnx_deep_types", .limit(.onnx, which: "nesting of types", offset: 108, found: 17, limit: 16)),
        (
            "onnx_ext_negative",
            .malformed(.onnx, field: "initializer.external_data.offset", offset: 53, .notADecimal)
        ),
        (
            "onnx_ext_traversal",
            .refused(
                .onnx,
                field: "initializer.external_data",
                offset: 34,
                .externalLocation("../../../../../../etc/passwd")
            )
        ),
    ]

    @Test("each hostile file is refused for what is wrong with it", arguments: hostile)
    func hostileFile(_ name: String, _ error: FormatError) throws {
        let bytes = try Fixtures.bytes("hostile/\(name).onnx")
        #expect(throws: error) { try inspect(bytes) }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        let what: FormatError.Malformation

        init(_ description: String, _ what: FormatError.Malformation, _ bytes: [UInt8]) {
            testDescription = description
            self.what = what
            self.bytes = bytes
        }

        init(_ description: String, _ what: FormatError.Malformation, graph: [Wire]) {
            self.init(description, what, ONNX.model(graph: graph))
        }
    }

    static let broken: [Case] = [
        Case("two graphs", .duplicate, ONNX.model(graph: ONNX.minimal, extra: [.message(7, ONNX.minimal)])),
        Case("two ir_versions", .duplicate, ONNX.model(graph: ONNX.minimal, extra: [.number(1, 8)])),
        Case(
            "one domain imported twice",
            .duplicate,
            ONNX.model(graph: ONNX.minimal, extra: [ONNX.opset("ai.onnx", 9)])
        ),
        Case(
            "one metadata key twice",
            .duplicate,
            ONNX.model(graph: ONNX.minimal, extra: [property, property])
        ),
        Case("an input name twice", .duplicateName, graph: [ONNX.input("x"), ONNX.input("x")]),
        Case("names equal after NFC", .duplicateName, graph: [ONNX.input("e\u{301}"), ONNX.input("\u{E9}")]),
        Case("a name of two values", .duplicate, graph: [.message(11, .text(1, "x"), .text(1, "z"))]),
        Case("an empty input name", .badName, graph: [ONNX.input("")]),
        Case("a control character in a name", .badName, graph: [ONNX.input("a\u{7}")]),
        Case("a name that is not UTF-8", .badText, graph: [.message(11, .payload(1, [0xFF]))]),
        Case("an input without type", .missing, graph: [.message(11, .text(1, "x"))]),
        Case("a tensor without element type", .missing, graph: [ONNX.input("x", .message(1))]),
        Case(
            "an element type that is undefined",
            .unknownElementType(0),
            graph: [ONNX.input("x", ONNX.tensorType(element: 0))]
        ),
        Case(
            "an element type from the future",
            .unknownElementType(29),
            graph: [ONNX.input("x", ONNX.tensorType(element: 29))]
        ),
        Case(
            "a type that is two",
            .contradiction,
            graph: [ONNX.input("x", Wire(ONNX.tensorType(), .message(7)))]
        ),
        Case(
            "a dimension of value and symbol",
            .contradiction,
            graph: [dimension(Wire(.number(1, 2), .text(2, "n")))]
        ),
        Case(
            "two symbols that look alike",
            .duplicateName,
            graph: [dimension(.text(2, "e\u{301}")), ONNX.output("y", accented)]
        ),
        Case("a negative dimension", .outOfRange, graph: [dimension(.number(1, -1))]),
        Case("a graph that is a number", .wrongWireType, ONNX.model(graph: []) + Wire.number(8, 1).bytes),
        Case(
            "an initializer twice",
            .duplicateName,
            graph: [.message(5, ONNX.tensor("W")), .message(5, ONNX.tensor("W"))]
        ),
        Case(
            "external data of an inline tensor",
            .contradiction,
            graph: [.message(5, Wire(.text(8, "W"), .message(13)))]
        ),
        Case(
            "external data without a place",
            .missing,
            graph: [
                .message(
                    5,
                    .number(2, 1),
                    .text(8, "W"),
                    .message(13, .text(1, "offset"), .text(2, "0")),
                    .number(14, 1)
                )
            ]
        ),
        Case(
            "external data beyond any file",
            .outOfRange,
            graph: [.message(5, ONNX.external("w", offset: "9999999999999999999"))]
        ),
        Case("field number 0", .badFieldNumber, ONNX.model(graph: ONNX.minimal) + [0]),
        Case("wire type 7", .badWireType, ONNX.model(graph: ONNX.minimal) + [15]),
        Case("a number of eleven bytes", .varintTooLong, Array(repeating: 0xFF, count: 11)),
        Case("a number of 65 bits", .varintTooLong, [8] + Array(repeating: 0xFF, count: 9) + [2]),
        Case("no graph", .missing, Wire(.number(1, 8), ONNX.opset("", 17)).bytes),
        Case("no ir_version", .missing, Wire(.message(7, ONNX.minimal), ONNX.opset("", 17)).bytes),
        Case("no operator set", .missing, Wire(.number(1, 8), .message(7, ONNX.minimal)).bytes),
        Case("ir_version 0", .outOfRange, ONNX.model(ir: 0, graph: ONNX.minimal)),
        Case("an operator set of version -1", .outOfRange, Wire(.number(1, 8), ONNX.opset("", -1)).bytes),
        Case("an empty file", .missing, []),
    ]

    static let property = Wire.message(14, .text(1, "k"), .text(2, "v"))

    static let accented = ONNX.tensorType(dimensions: [.text(2, "\u{E9}")])

    static func dimension(_ content: Wire) -> Wire {
        ONNX.input("x", ONNX.tensorType(dimensions: [content]))
    }

    @Test("what two readers could read differently is malformed", arguments: broken)
    func malformed(_ example: Case) {
        let error = #expect(throws: FormatError.self) { try inspect(example.bytes) }
        guard case .malformed(.onnx, _, _, let what) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(what == example.what)
    }

    @Test("training information, device code and foreign operators are refused")
    func policy() {
        func refusal(_ bytes: [UInt8]) -> FormatError.Refusal? {
            let error = #expect(throws: FormatError.self) { try inspect(bytes) }
            guard case .refused(.onnx, _, _, let why) = error else { return nil }
            return why
        }
        let training = ONNX.model(graph: ONNX.minimal, extra: [.message(20)])
        let device = ONNX.model(graph: ONNX.minimal + [ONNX.node("EPContext", domain: "com.microsoft")])
        let node = ONNX.model(graph: ONNX.minimal + [ONNX.node("Steal", domain: "evil.example")])
        #expect(refusal(training) == .trainingInfo)
        #expect(refusal(device) == .deviceContext)
        #expect(refusal(node) == .operatorDomain("evil.example"))
    }

    @Test("a domain that the model's own functions define is taken")
    func localFunction() throws {
        let function = Wire.message(
            25,
            .text(1, "Gelu"),
            .text(10, "pkg.local"),
            .message(7, ONNX.node("Erf").content)
        )
        let model = ONNX.model(
            graph: ONNX.minimal + [ONNX.node("Gelu", domain: "pkg.local")],
            extra: [ONNX.opset("pkg.local", 1), function]
        )
        #expect(try inspect(model).requires.opsets == ["ai.onnx": 17, "pkg.local": 1])
    }

    @Test("each limit is an error that names itself, never a cut")
    func limits() {
        func limit(_ bytes: [UInt8], _ change: (inout FormatLimits) -> Void = { _ in }) -> String? {
            var limits = FormatLimits()
            change(&limits)
            let error = #expect(throws: FormatError.self) { try inspect(bytes, limits: limits) }
            guard case .limit(.onnx, let which, _, _, _) = error else { return nil }
            return which
        }
        let plain = ONNX.model(graph: ONNX.minimal)
        #expect(limit(plain) { $0.bytes = 20 } == "bytes of structure")
        #expect(limit(plain) { $0.fields = 10 } == "fields")
        #expect(limit(plain) { $0.depth = 3 } == "nesting of messages")
        let many = (0...4_096).map { ONNX.input("x\($0)") }
        #expect(limit(ONNX.model(graph: many)) == "inputs")
        let deep = ONNX.tensorType(dimensions: Array(repeating: .number(1, 1), count: 33))
        #expect(limit(ONNX.model(graph: [ONNX.input("x", deep)])) == "dimensions")
        let wide = Self.dimension(.number(1, (1 << 40) + 1))
        #expect(limit(ONNX.model(graph: [wide])) == "size of a dimension")
        let vast = ONNX.tensorType(dimensions: [.number(1, 1 << 40), .number(1, 1 << 40)])
        #expect(limit(ONNX.model(graph: [ONNX.input("x", vast)])) == "elements of a tensor")
        let pairs = ONNX.model(graph: ONNX.minimal, extra: [Self.property, .message(14, .text(1, "l"))])
        #expect(limit(pairs) { $0.metadataPairs = 1 } == "metadata pairs")
        #expect(limit(pairs) { $0.metadataTotal = 2 } == "bytes of metadata")
        let two = [
            Wire.message(5, ONNX.external("a")),
            .message(
                5,
                .number(2, 1),
                .text(8, "V"),
                .message(13, .text(1, "location"), .text(2, "b")),
                .number(14, 1)
            ),
        ]
        #expect(limit(ONNX.model(graph: two)) { $0.externalFiles = 1 } == "external files")
        func domains(_ part: (String) -> Wire) -> String? {
            limit(ONNX.model(graph: ONNX.minimal, extra: (0...4_096).map { part("d\($0)") }))
        }
        #expect(domains { ONNX.opset($0, 1) } == "operator domains")
        #expect(domains { .message(25, .text(10, $0)) } == "operator domains")
        let nodes = (0...4_096).map { ONNX.node("Add", domain: "d\($0)") }
        #expect(limit(ONNX.model(graph: nodes)) == "operator domains")
    }

    @Test("of two initializers with one name the second is told, whatever stands between and after them")
    func initializers() throws {
        var parts = (0..<2_000).map { Wire.message(5, ONNX.tensor("w\($0)")) }
        #expect(try inspect(ONNX.model(graph: ONNX.minimal + parts)).interface.inputs.count == 1)
        parts[1_700] = .message(5, ONNX.tensor("w3"))
        parts[900] = .message(
            15,
            .message(1, ONNX.tensor("w1200")),
            .message(2, ONNX.tensor("")),
            .number(3, 1)
        )
        let bytes = ONNX.model(graph: parts + ONNX.minimal)
        let rest = (ONNX.minimal + [ONNX.opset("", 17)]).reduce(0) { $0 + $1.bytes.count }
        let graph = bytes.count - rest
        let second = graph - parts[1_200...].reduce(0) { $0 + $1.bytes.count }
        let error = #expect(throws: FormatError.self) { try inspect(bytes) }
        #expect(
            error
                == .malformed(.onnx, field: "graph.initializer.name", offset: UInt64(second), .duplicateName)
        )
    }

    @Test("an error says what, where and what was found")
    func words() {
        let error = FormatError.malformed(.onnx, field: "graph.name", offset: 12, .duplicate)
        let said =
            "not a valid onnx file: graph.name at byte 12: it stands twice, and readers would differ on which counts"
        #expect(error.description == said)
    }
}
