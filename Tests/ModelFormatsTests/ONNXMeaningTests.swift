import Manifest
import ModelFormats
import Names
import Testing

@Suite("What an ONNX file means")
struct ONNXMeaningTests {
    /// An input of `float32[1]`, which the initializer of that name is too.
    private static let weight = ONNX.input("W", ONNX.tensorType(dimensions: [.number(1, 1)]))

    @Test("a listed initializer is a constant before IR 4, and an optional input since")
    func initializers() throws {
        let graph = [Self.weight] + ONNX.minimal + [.message(5, ONNX.tensor("W"))]
        let old = try inspect(ONNX.model(ir: 3, graph: graph)).interface
        let new = try inspect(ONNX.model(ir: 4, graph: graph)).interface
        #expect(old.inputs.map(\.name.description) == ["x"])
        #expect(new.inputs.map(\.name.description) == ["x", "W"])
        #expect(new.inputs.map(\.isOptional) == [false, true])
    }

    @Test("a sparse initializer hides an input too")
    func sparse() throws {
        let sparse = Wire.message(
            15,
            .message(1, ONNX.tensor("W")),
            .message(2, ONNX.tensor("")),
            .number(3, 2)
        )
        let interface = try inspect(ONNX.model(ir: 3, graph: ONNX.minimal + [ONNX.input("W"), sparse]))
            .interface
        #expect(interface.inputs.map(\.name.description) == ["x"])
    }

    @Test("dimensions are fixed, symbols or anything; no shape is not a scalar")
    func shapes() throws {
        func shape(_ dimensions: [Wire]?) throws -> Shape? {
            let input = ONNX.input("x", ONNX.tensorType(dimensions: dimensions))
            guard
                case .tensor(let tensor) = try inspect(ONNX.model(graph: [input])).interface.inputs.first?
                    .type
            else { return nil }
            return tensor.shape
        }
        let symbol = try #require(FeatureName("n"))
        #expect(try shape(nil) == .unknownRank)
        #expect(try shape([]) == .dimensions([]))
        #expect(
            try shape([.number(1, 0), .text(2, "n"), Wire()])
                == .dimensions([.fixed(0), .symbol(symbol), .any])
        )
        #expect(try shape([.text(2, ""), .text(3, "DATA_BATCH")]) == .dimensions([.any, .any]))
    }

    @Test("sequences, maps, optional, sparse and opaque types have their kind")
    func types() throws {
        func feature(_ type: Wire) throws -> Feature? {
            try inspect(ONNX.model(graph: [ONNX.input("x", type)])).interface.inputs.first
        }
        let tensor = ValueType.tensor(TensorType(element: .float32, shape: .fixed([2])))
        #expect(
            try feature(.message(4, .message(1, ONNX.tensorType())))?.type
                == .sequence(of: tensor, count: .any)
        )
        let map = Wire.message(5, .number(1, 7), .message(2, ONNX.tensorType()))
        #expect(try feature(map)?.type == .map(key: .int64, of: tensor))
        let optional = try feature(.message(9, .message(1, ONNX.tensorType())))
        #expect(optional?.type == tensor)
        #expect(optional?.isOptional == true)
        let nested = try feature(.message(4, .message(1, .message(9, .message(1, ONNX.tensorType())))))
        #expect(nested?.type == .sequence(of: .maybe(tensor), count: .any))
        let sparse = Wire.message(8, .number(1, 11), .message(2))
        #expect(
            try feature(sparse)?.type == .sparseTensor(TensorType(element: .float64, shape: .dimensions([])))
        )
        let opaque = try feature(.message(7, .text(1, "d"), .text(2, "n")))
        #expect(opaque?.type == .opaque(domain: "d", name: "n"))
    }

    static let numbers: [(Int64, ElementType)] = [
        (1, .float32), (8, .string), (16, .bfloat16), (24, .float8e8m0), (28, .float6e3m2),
    ]

    @Test("element numbers are mapped by name", arguments: numbers)
    func elements(_ number: Int64, _ element: ElementType) throws {
        let input = ONNX.input("x", ONNX.tensorType(element: number))
        guard case .tensor(let tensor) = try inspect(ONNX.model(graph: [input])).interface.inputs.first?.type
        else {
            Issue.record("no tensor")
            return
        }
        #expect(tensor.element == element)
    }

    @Test("external data is found in every place where a tensor can be")
    func hidingPlaces() throws {
        func attribute(_ number: UInt64, _ content: Wire) -> Wire {
            ONNX.node("Constant", attributes: [ONNX.attribute("v", .message(number, content))])
        }
        let sparseValues = Wire.message(1, ONNX.external("s"))
        let sparseIndices = Wire.message(2, ONNX.external("s"))
        let node = attribute(5, ONNX.external("s"))
        let places: KeyValuePairs<String, Wire> = [
            "initializer": .message(5, ONNX.external("s")),
            "sparse values": .message(15, sparseValues),
            "sparse indices": .message(15, .message(1, ONNX.tensor("W")), sparseIndices),
            "attribute t": node,
            "attribute tensors": attribute(10, ONNX.external("s")),
            "attribute sparse_tensor": attribute(22, sparseValues),
            "attribute sparse_tensors": attribute(23, sparseIndices),
            "nested graph g": attribute(6, node),
            "nested graphs": attribute(11, .message(5, ONNX.external("s"))),
            "graph in a graph": attribute(6, attribute(6, node)),
        ]
        for (place, content) in places {
            let found = try inspect(ONNX.model(graph: ONNX.minimal + [content])).externalFiles
            #expect(found.map(\.path.description) == ["s"], "\(place)")
        }
        let function = Wire.message(25, .text(1, "F"), .text(10, "l"), .message(7, node.content))
        let inFunction = try inspect(ONNX.model(graph: ONNX.minimal, extra: [function])).externalFiles
        #expect(inFunction.map(\.path.description) == ["s"])
        let attributed = Wire.message(25, .message(11, .message(5, ONNX.external("s"))))
        let inDefault = try inspect(ONNX.model(graph: ONNX.minimal, extra: [attributed])).externalFiles
        #expect(inDefault.map(\.path.description) == ["s"])
    }

    @Test(
        "a location that is no plain path is refused",
        arguments: ["/etc/passwd", "../w", "a/../w", "", ".", "a//b", "a\\b", "C:w", "w\u{0}", "nul", "w."]
    )
    func locations(_ location: String) {
        let error = #expect(throws: FormatError.self) {
            try inspect(ONNX.model(graph: ONNX.minimal + [.message(5, ONNX.external(location))]))
        }
        guard case .refused(.onnx, _, _, .externalLocation(location)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("two tensors may share a stretch of a file, not part of one")
    func overlaps() throws {
        func inspectStretches(_ stretches: (String, String?)...) throws -> [ExternalFile] {
            let tensors = stretches.enumerated().map { index, stretch in
                let tensor = ONNX.external("./sub/w", offset: stretch.0, length: stretch.1)
                return ONNX.node("Constant", attributes: [ONNX.attribute("v\(index)", .message(5, tensor))])
            }
            return try inspect(ONNX.model(graph: ONNX.minimal + tensors)).externalFiles
        }
        let path = try #require(FilePath("sub/w"))
        #expect(
            try inspectStretches(("0", "8"), ("8", "8")) == [ExternalFile(path: path, requiredLength: 16)]
        )
        #expect(try inspectStretches(("8", nil)) == [ExternalFile(path: path, requiredLength: 12)])
        #expect(
            try inspectStretches(("0", "8"), ("4", "0")) == [ExternalFile(path: path, requiredLength: 8)]
        )
        #expect(try inspectStretches(("0", "8"), ("0", "8")) == [ExternalFile(path: path, requiredLength: 8)])
        for pair in [(("0", "8"), ("4", "8")), (("0", "8"), ("0", "4")), (("0", nil), ("0", "8"))] {
            let error = #expect(throws: FormatError.self) { _ = try inspectStretches(pair.0, pair.1) }
            guard case .refused(.onnx, _, _, .externalOverlap("sub/w")) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    /// A model with one initializer, whose `hole` bytes are nowhere.
    private static func source(weights hole: UInt64) -> CountingSource {
        let head =
            Wire(.number(1, Int64(hole / 4)), .number(2, 1), .text(8, "W")).bytes + Wire.varint(9 << 3 | 2)
            + Wire.varint(hole)
        let graph = ONNX.minimal.flatMap(\.bytes)
        let initializer = Wire.varint(5 << 3 | 2) + Wire.varint(UInt64(head.count) + hole) + head
        let length = UInt64(graph.count + initializer.count) + hole
        let start =
            Wire.number(1, 8).bytes + Wire.varint(7 << 3 | 2) + Wire.varint(length) + graph + initializer
        return CountingSource(HollowSource(head: start, hole: hole, tail: ONNX.opset("", 17).bytes))
    }

    @Test("weights of nearly two gibibytes are stepped over, and beyond that no runtime reads the file")
    func stepsOverWeights() throws {
        let source = Self.source(weights: (2 << 30) - 4_096)
        let found = try ModelFile.inspect(source: source, name: "large.onnx")
        #expect(found.interface.inputs.count == 1)
        #expect(source.bytesRead < 16_384)
        let long = Self.source(weights: 2 << 30)
        let why = FormatError.Refusal.beyondProtobuf(long.length)
        #expect(throws: FormatError.refused(.onnx, field: "model", offset: UInt64(Int32.max), why)) {
            try ModelFile.inspect(source: long, name: "large.onnx")
        }
        #expect(long.bytesRead < 16_384)
        let unnamed = HollowSource(head: [1], hole: 3 << 30, tail: [])
        #expect(try ModelFile.inspect(source: unnamed, name: "blob").format == .opaque)
    }
}
