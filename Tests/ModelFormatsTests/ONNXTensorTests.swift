import Manifest
import ModelFormats
import Names
import Testing

@Suite("ONNX tensors: data as long as type and shape say")
struct ONNXTensorTests {
    /// Dimensions, the number of an element type, and what holds the data.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let wire: Wire

        init(_ text: String, _ sizes: [Int64], _ element: Int64, _ data: Wire...) {
            testDescription = text
            let head = sizes.map { Wire.number(1, $0) } + [.number(2, element), .text(8, "W")]
            wire = .raw((head + data).flatMap(\.bytes))
        }
    }

    private static func bytes(_ field: UInt64, _ count: Int) -> Wire {
        .payload(field, Array(repeating: 0, count: count))
    }

    private static func external(_ location: String, _ offset: String, _ length: String?) -> Wire {
        func entry(_ key: String, _ value: String) -> Wire { .message(13, .text(1, key), .text(2, value)) }
        return Wire(
            entry("location", location),
            entry("offset", offset),
            length.map { entry("length", $0) } ?? Wire(),
            .number(14, 1)
        )
    }

    static let whole = [
        Case("float32 as bytes", [2, 3], 1, bytes(9, 24)),
        Case("a scalar as bytes", [], 11, bytes(9, 8)),
        Case("no elements, no data", [2, 0], 1),
        Case("no elements, empty bytes", [0], 7, bytes(9, 0)),
        Case("uint4 as bytes, the last half filled", [3], 21, bytes(9, 2)),
        Case("int4 as numbers, two in each", [5], 22, bytes(5, 3)),
        Case("uint2 as bytes", [5], 25, bytes(9, 2)),
        Case("float4 as bytes", [4], 23, bytes(9, 2)),
        Case("float6 as bytes", [4], 27, bytes(9, 3)),
        Case("float6 as numbers, one in each", [4], 27, bytes(5, 4)),
        Case("float8 as numbers", [3], 17, bytes(5, 3)),
        Case("float16 as numbers of three bytes", [2], 10, .payload(5, [0xFF, 0xFF, 3, 0x80, 0x80, 1])),
        Case("float32, packed", [2], 1, bytes(4, 8)),
        Case("float32, one by one", [2], 1, .raw([37, 0, 0, 0, 0, 37, 0, 0, 0, 0])),
        Case("int64, packed and one by one", [3], 7, .payload(7, [1, 2]), .number(7, -1)),
        Case("float64, packed", [2], 11, bytes(10, 16)),
        Case("uint32", [2], 12, bytes(11, 2)),
        Case("complex64, two numbers each", [2], 14, bytes(4, 16)),
        Case("complex128 as bytes", [1], 15, bytes(9, 16)),
        Case("text", [2], 8, .text(6, ""), .text(6, "b")),
        Case("outside", [2], 1, external("w", "0", "8")),
        Case("outside, without a length", [2], 1, external("w", "8", nil)),
        Case("int4 outside", [3], 22, external("w", "0", "2")),
    ]

    private static func error(_ example: Case, _ name: String = "model.onnx") -> FormatError? {
        let bytes = ONNX.model(graph: ONNX.minimal + [.message(5, example.wire)])
        do { _ = try ModelFile.inspect(source: MemorySource(bytes), name: name) } catch { return error }
        return nil
    }

    @Test("whole tensors are read", arguments: whole)
    func read(_ example: Case) { #expect(Self.error(example) == nil) }

    static let broken: [(Case, String, FormatError.Malformation)] = [
        (Case("short", [2], 1, bytes(9, 7)), "raw_data", .wrongLength(expected: 8, found: 7)),
        (Case("long", [2], 1, bytes(9, 9)), "raw_data", .wrongLength(expected: 8, found: 9)),
        (Case("no data", [2], 1), "float_data", .wrongCount(expected: 2, found: 0)),
        (Case("no elements", [0], 1, bytes(9, 4)), "raw_data", .wrongLength(expected: 0, found: 4)),
        (Case("int4", [3], 22, bytes(9, 3)), "raw_data", .wrongLength(expected: 2, found: 3)),
        (Case("few numbers", [3], 7, bytes(7, 2)), "int64_data", .wrongCount(expected: 3, found: 2)),
        (Case("few floats", [3], 1, bytes(4, 8)), "float_data", .wrongCount(expected: 3, found: 2)),
        (Case("half a float", [1], 1, bytes(4, 3)), "float_data", .wrongLength(expected: 0, found: 3)),
        (Case("half a number", [1], 6, .payload(5, [0x80])), "int32_data", .endsEarly),
        (Case("few texts", [2], 8, .text(6, "a")), "string_data", .wrongCount(expected: 2, found: 1)),
        (Case("text as bytes", [1], 8, bytes(9, 4)), "data", .contradiction),
        (Case("another field", [1], 1, bytes(7, 1)), "data", .contradiction),
        (Case("two kinds", [1], 1, bytes(9, 4), bytes(4, 4)), "data", .contradiction),
        (Case("vast", [1 << 40, 1 << 40], 1, bytes(9, 4)), "dims", .outOfRange),
        (Case("wrapping", [1 << 32, 1 << 32], 1), "dims", .outOfRange),
        (Case("negative", [-1], 1, bytes(9, 4)), "dims", .outOfRange),
        (Case("type 0", [1], 0, bytes(9, 4)), "data_type", .unknownElementType(0)),
        (Case("type 29", [1], 29, bytes(9, 4)), "data_type", .unknownElementType(29)),
        (
            Case("outside, long", [2], 1, external("w", "0", "12")), "length",
            .wrongLength(expected: 8, found: 12)
        ), (Case("text outside", [1], 8, external("w", "0", "4")), "data_location", .contradiction),
        (
            Case("inside and outside", [1], 1, bytes(9, 4), external("w", "0", "4")), "data_location",
            .contradiction
        ),
    ]

    @Test("tensors whose data is of another length are malformed, at their place", arguments: broken.indices)
    func refused(_ index: Int) {
        let (example, name, what) = Self.broken[index]
        guard case .malformed(.onnx, let field, let offset, let found)? = Self.error(example) else {
            Issue.record("\(example.testDescription): \(String(describing: Self.error(example)))")
            return
        }
        #expect(
            found == what && field.hasSuffix(".\(name)"),
            "\(example.testDescription): \(field), \(found)"
        )
        #expect(offset > 0)
    }

    @Test("weights cannot lie in the model file itself")
    func itself() {
        let example = Case("itself", [1], 1, Self.external("model.onnx", "0", "4"))
        guard
            case .refused(.onnx, "initializer.external_data.location", let offset, .externalItself)? =
                Self.error(example)
        else {
            Issue.record("\(String(describing: Self.error(example)))")
            return
        }
        #expect(offset > 0)
        #expect(Self.error(example, "other.onnx") == nil)
    }

    @Test("external data without a length still needs its bytes")
    func length() throws {
        let tensor = Wire(.number(1, 3), .number(2, 7), .text(8, "W"), Self.external("w", "16", nil))
        let found = try inspect(ONNX.model(graph: ONNX.minimal + [.message(5, tensor)])).externalFiles
        #expect(found.map(\.requiredLength) == [40])
    }

    @Test("an initializer must be a value of the type that is declared for its name")
    func declared() {
        func fits(_ type: Wire, ir: Int64 = 8) -> Bool {
            let graph = ONNX.minimal + [ONNX.input("W", type), .message(5, ONNX.tensor("W"))]
            do { _ = try inspect(ONNX.model(ir: ir, graph: graph)) } catch {
                guard case .malformed(.onnx, "graph.initializer `W`", let offset, .contradiction) = error
                else {
                    Issue.record("\(error)")
                    return true
                }
                #expect(offset > 0)
                return false
            }
            return true
        }
        for version in [3, 8] as [Int64] {
            #expect(fits(ONNX.tensorType(dimensions: [.number(1, 1)]), ir: version))
            #expect(fits(ONNX.tensorType(dimensions: [.text(2, "n")]), ir: version))
            #expect(fits(ONNX.tensorType(dimensions: nil), ir: version))
            #expect(!fits(ONNX.tensorType(dimensions: [.number(1, 2)]), ir: version))
            #expect(!fits(ONNX.tensorType(dimensions: []), ir: version))
            #expect(!fits(ONNX.tensorType(element: 7, dimensions: [.number(1, 1)]), ir: version))
        }
    }
}
