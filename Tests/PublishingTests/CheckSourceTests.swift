import Glibc
import Inference
import Names
import Publishing
import Support
import Testing

@Suite("Golden vectors that are published")
struct CheckSourceTests {
    private let scratch = Scratch()
    private let ports = ModelPorts(
        inputs: [
            Port(name: "a", kind: .tensor(.float32, [.any, .fixed(2)])),
            Port(name: "b", kind: .tensor(.int64, [.any])),
        ],
        outputs: [Port(name: "y", kind: .tensor(.float32, [.any]))]
    )

    // MARK: TensorProto by hand

    private func varint(_ value: UInt64) -> [UInt8] {
        var (rest, bytes): (UInt64, [UInt8]) = (value, [])
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private func number(_ field: UInt64, _ value: UInt64) -> [UInt8] { varint(field << 3) + varint(value) }

    private func bytes(_ field: UInt64, _ payload: [UInt8]) -> [UInt8] {
        varint(field << 3 | 2) + varint(UInt64(payload.count)) + payload
    }

    private func floats(_ values: [Float], _ shape: [UInt64], name: String = "") -> [UInt8] {
        let raw = values.flatMap { value in
            (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> ($0 * 8)) }
        }
        return shape.flatMap { number(1, $0) } + number(2, 1)
            + (name.isEmpty ? [] : bytes(8, Array(name.utf8))) + bytes(9, raw)
    }

    private func integers(_ values: [UInt64]) -> [UInt8] {
        number(1, UInt64(values.count)) + number(2, 7) + bytes(7, values.flatMap(varint))
    }

    private func checks(_ place: String = "data") throws -> [WrittenCheck] {
        var source = CheckSource(scratch.path(place), for: ports)
        return try source.checks()
    }

    private func refusal(_ place: String = "data") -> String {
        do {
            _ = try checks(place)
            return "taken"
        } catch { return "\(error)" }
    }

    @Test("test data of ONNX models is taken by number, or by name where the tensor has one")
    func testData() throws {
        try scratch.write("data/test_data_set_0/input_0.pb", floats([1, 2, 3, 4], [2, 2]))
        try scratch.write("data/test_data_set_0/input_1.pb", integers([7, UInt64.max]))
        try scratch.write("data/test_data_set_0/output_0.pb", floats([5], [1]))
        try scratch.write("data/test_data_set_1/input_0.pb", floats([1, 2], [1, 2], name: "a"))
        try scratch.write("data/notes.txt", [])
        let checks = try checks()
        #expect(checks.count == 2)
        #expect(checks[0].inputs["a"] == (try Tensor([Float(1), 2, 3, 4], shape: [2, 2])))
        #expect(checks[0].inputs["b"] == (try Tensor([Int64(7), -1], shape: [2])))
        #expect(checks[0].outputs["y"] == (try Tensor([Float(5)], shape: [1])))
        #expect(checks[1].isOpen)
        #expect(try self.checks("data/test_data_set_0") == [checks[0]])
    }

    @Test("documents are taken alone and from a folder, in the order of their names")
    func documents() throws {
        let text = #"{"type": "sealift/checks@1", "checks": [{"inputs": {"a": [[1, 2]], "b": [3]}}]}"#
        try scratch.write("data/b.json", Array(text.utf8))
        try scratch.write("data/a.json", Array(text.utf8))
        #expect(try checks("data/b.json").count == 1)
        let names = try checks().map(\.name)
        #expect(names == ["a.json", "b.json"].map { scratch.path("data/\($0)") + ", check 0" })
    }

    @Test(
        "a tensor that is none, lies elsewhere, claims more than there is, or fits no port is refused",
        arguments: HostileTensor.allCases
    )
    func hostile(_ tensor: HostileTensor) throws {
        let content: [UInt8] =
            switch tensor {
            case .empty: []
            case .noProtobuf: Array("not a tensor".utf8)
            case .shortData: number(1, 1 << 20) + number(2, 1) + bytes(9, [0, 0, 0, 0])
            case .hugeShape: number(1, 1 << 62) + number(1, 1 << 62) + number(2, 1) + bytes(9, [])
            case .hugeClaim: number(1, 1 << 30) + number(2, 1) + varint(9 << 3 | 2) + varint(1 << 32) + [0]
            case .external:
                number(1, 1) + number(2, 1) + bytes(13, bytes(1, Array("location".utf8)) + bytes(2, [0x78]))
                    + number(14, 1)
            case .text: number(1, 1) + number(2, 8) + bytes(6, [0x61])
            case .smallElement: number(1, 2) + number(2, 22) + bytes(9, [0x21])
            case .unknownElement: number(1, 1) + number(2, 99) + bytes(9, [0])
            case .twoKinds: floats([1], [1]) + bytes(4, [0, 0, 0, 0])
            }
        try scratch.write("data/input_0.pb", content)
        let found = refusal()
        #expect(found.contains("input_0.pb") && found.contains(tensor.reason), "\(found)")
    }

    @Test("links, twins, strangers and files of 4 GB are refused, and no folder without a check is taken")
    func places() throws {
        try scratch.write("elsewhere.pb", floats([1, 2], [1, 2]))
        try scratch.write("data/x", [])
        symlink(scratch.path("elsewhere.pb"), scratch.path("data/input_0.pb"))
        #expect(refusal().contains("is no regular file"))
        symlink(scratch.path("data"), scratch.path("linked"))
        #expect(refusal("linked").contains("neither a file nor a folder"))
        try scratch.write("twins/input_0.pb", floats([1, 2], [1, 2], name: "a"))
        try scratch.write("twins/input_1.pb", floats([1, 2], [1, 2], name: "a"))
        #expect(refusal("twins").contains("stands in another file too"))
        try scratch.write("far/input_0.pb", floats([1, 2], [1, 2]))
        try scratch.write("far/input_9.pb", floats([1, 2], [1, 2]))
        #expect(refusal("far").contains("nor one of the number 9"))
        try scratch.write("large/input_0.pb", [])
        #expect(truncate(scratch.path("large/input_0.pb"), 4 << 30) == 0)
        #expect(refusal("large").contains("more than"))
        try scratch.write("large.json", [])
        #expect(truncate(scratch.path("large.json"), 4 << 30) == 0)
        #expect(refusal("large.json").contains("large.json"))
        try scratch.write("nothing/readme.txt", [])
        #expect(refusal("nothing").contains("has no checks"))
        #expect(refusal("absent").contains("neither a file nor a folder"))
    }
}

/// Files that look like one tensor.
enum HostileTensor: CaseIterable {
    case empty, noProtobuf, shortData, hugeShape, hugeClaim, external, text, smallElement, unknownElement
    case twoKinds

    /// A word of the refusal.
    var reason: String {
        switch self {
        case .empty: "data_type"
        case .smallElement, .text: "data_type"
        case .noProtobuf, .shortData, .hugeShape, .hugeClaim, .external, .unknownElement, .twoKinds: ""
        }
    }
}
