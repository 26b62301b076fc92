import Manifest
import ModelFormats
import Names
import Testing

@Suite("What goes into an interface: no more than a manifest can hold")
struct InterfaceBudgetTests {
    private func limit(
        _ bytes: [UInt8],
        _ limits: FormatLimits = FormatLimits(),
        name: String = "m.mlmodel"
    ) -> (String, UInt64)? {
        do { _ = try ModelFile.inspect(source: MemorySource(bytes), name: name, limits: limits) } catch {
            if case .limit(_, let which, _, let found, _) = error { return (which, found) }
        }
        return nil
    }

    /// An array of `float32` that has no default size.
    private static func array(_ flexible: Wire) -> Wire {
        .message(3, .message(5, .number(2, 65_568), flexible))
    }

    private static func shapes(_ count: Int64) -> Wire {
        .message(21, (1...count).map { .message(1, .number(1, $0)) })
    }

    /// As many inputs, each of as many whole shapes.
    private static func model(inputs: Int, shapes count: Int64) -> Wire {
        let type = array(shapes(count))
        let inputs = (0..<inputs).map { CoreML.input("x\($0)", type) }
        return CoreML.model(description: inputs + [CoreML.output("y")], .message(900))
    }

    @Test("many inputs of many shapes are refused at once, and as many as a manifest holds are not")
    func enumerated() {
        let found = limit(Self.model(inputs: 400, shapes: 1_024).bytes)
        #expect(found?.0 == "bytes of the interface")
        #expect(found.map { $0.1 <= (1 << 20) + 64 } == true)
        #expect(limit(Self.model(inputs: 100, shapes: 1_024).bytes) == nil)
        #expect(limit(Self.model(inputs: 4_000, shapes: 1).bytes) == nil)
    }

    @Test("ranges, names and sizes of images count as well")
    func others() {
        var limits = FormatLimits()
        limits.interfaceBytes = 400
        func model(_ type: Wire, _ name: String = "x") -> [UInt8] {
            CoreML.model(description: [CoreML.input(name, type), CoreML.output("y")], .message(900)).bytes
        }
        #expect(limit(model(CoreML.array()), limits) == nil)
        #expect(limit(model(CoreML.array(), String(repeating: "n", count: 300)), limits)?.0 != nil)
        let range = Wire.message(1, .number(1, 1), .number(2, -1))
        let ranges = Self.array(.message(31, Array(repeating: range, count: 32)))
        #expect(limit(model(ranges), limits)?.0 == "bytes of the interface")
        #expect(limit(model(Self.image(sizes: 40)), limits)?.0 == "bytes of the interface")
    }

    /// An image that may have any of so many sizes.
    private static func image(sizes count: Int64) -> Wire {
        let sizes = (0..<count).map { Wire.message(1, .number(1, 100 + $0), .number(2, 100)) }
        return .message(3, .message(4, .number(1, 100), .number(2, 100), .number(3, 10), .message(21, sizes)))
    }

    @Test("many images of many sizes are taken where a manifest holds them")
    func images() throws {
        func read(_ inputs: Int) throws -> Interface {
            let type = Self.image(sizes: 1_024)
            let inputs = (0..<inputs).map { CoreML.input("x\($0)", type) }
            return try CoreML.inspect(CoreML.model(description: inputs + [CoreML.output("y")], .message(900)))
                .interface
        }
        #expect(try read(60).canonical.count < 1 << 20)
        #expect(throws: FormatError.self) { try read(120) }
    }

    @Test("symbols of an ONNX file are refused at once, and as many as a manifest holds are not")
    func symbols() {
        func model(_ inputs: Int) -> [UInt8] {
            let features = (0..<inputs).map { input in
                ONNX.input(
                    "x\(input)",
                    ONNX.tensorType(dimensions: (0..<32).map { .text(2, "s\(input)_\($0)") })
                )
            }
            return ONNX.model(graph: features + ONNX.minimal)
        }
        #expect(limit(model(4_000), name: "m.onnx")?.0 == "bytes of the interface")
        #expect(limit(model(1_000), name: "m.onnx") == nil)
    }

    @Test("the models of pipelines are counted, also of those inside others, and keep nothing of themselves")
    func pipelines() {
        func pipeline(_ count: Int, _ model: Wire) -> Wire {
            .message(202, Array(repeating: .payload(1, model.bytes), count: count))
        }
        let plain = CoreML.model(.message(900))
        #expect(limit(CoreML.model(pipeline(1_024, plain)).bytes) == nil)
        #expect(limit(CoreML.model(pipeline(1_025, plain)).bytes)?.0 == "models in pipelines")
        let inner = CoreML.model(pipeline(64, plain))
        #expect(limit(CoreML.model(pipeline(16, inner)).bytes)?.0 == "models in pipelines")
        let rich = Self.model(inputs: 60, shapes: 1_024)
        #expect(limit(CoreML.model(pipeline(20, rich)).bytes) == nil)
        let vast = Self.model(inputs: 400, shapes: 1_024)
        #expect(limit(CoreML.model(pipeline(1, vast)).bytes)?.0 == "bytes of the interface")
    }

    @Test("the operations of a program are counted in all of its blocks")
    func operations() {
        var limits = FormatLimits()
        limits.operations = 5
        func program(_ count: Int) -> [UInt8] {
            let operations = Array(repeating: Wire.message(3, .text(1, "const")), count: count)
            let nested = Wire.message(3, .text(1, "cond"), .message(4, operations))
            let block = Wire.message(3, .text(1, "CoreML5"), .message(2, nested))
            let function = Wire.message(2, .text(1, "main"), .message(2, .text(2, "CoreML5"), block))
            let description = [CoreML.output("y")]
            return CoreML.model(version: 6, description: description, .message(502, .number(1, 1), function))
                .bytes
        }
        #expect(limit(program(4), limits) == nil)
        #expect(limit(program(5), limits)?.0 == "operations")
    }

    @Test("an image size twice is refused, and a default size that is none of the others is told")
    func imageSizes() throws {
        func image(_ flexible: Wire) throws(FormatError) -> String? {
            let type = Wire.message(3, .message(4, .number(1, 8), .number(2, 6), .number(3, 20), flexible))
            let model = CoreML.model(
                description: [CoreML.input("x", type), CoreML.output("y")],
                .message(900)
            )
            return try CoreML.inspect(model).interface.input("x")?.type.description
        }
        func sizes(_ sides: (Int64, Int64)...) -> Wire {
            .message(21, sides.map { .message(1, .number(1, $0.0), .number(2, $0.1)) })
        }
        #expect(try image(sizes((8, 6), (4, 3))) == "RGB image 8×6 or 4×3")
        #expect(try image(sizes((4, 3))) == "RGB image 4×3; its default size 8×6 is none of these")
        #expect(throws: FormatError.self) { try image(sizes((8, 6), (4, 3), (8, 6))) }
        func range(_ field: UInt64, _ sides: ClosedRange<Int64>) -> Wire {
            .message(field, .number(1, sides.lowerBound), .number(2, sides.upperBound))
        }
        #expect(try image(.message(31, range(1, 1...8), range(2, 6...9))) == "RGB image 1…8 × 6…9")
        let other = "RGB image 1…7 × 6…9; its default size 8×6 is none of these"
        #expect(try image(.message(31, range(1, 1...7), range(2, 6...9))) == other)
    }

    @Test("a cell of a table shows a handful of shapes and how many others there are")
    func cells() throws {
        let found = try CoreML.inspect(Self.model(inputs: 1, shapes: 9)).interface
        #expect(
            found.input("x0")?.type.description
                == "float32[1] or [2] or [3] or [4] or [5] or [6] … and 3 more"
        )
        let few = try CoreML.inspect(Self.model(inputs: 1, shapes: 6)).interface
        #expect(few.input("x0")?.type.description == "float32[1] or [2] or [3] or [4] or [5] or [6]")
    }
}
