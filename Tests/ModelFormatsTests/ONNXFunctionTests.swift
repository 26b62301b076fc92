import Manifest
import ModelFormats
import Names
import Testing

@Suite("ONNX local functions")
struct ONNXFunctionTests {
    /// A function of the domain `l` that calls others of it.
    private static func function(_ name: String, calling calls: String..., overload: String = "") -> Wire {
        .message(
            25,
            [.text(1, name), .text(10, "l"), .text(13, overload)]
                + calls.map { .message(7, ONNX.node($0, domain: "l").content) }
        )
    }

    private static func model(calling calls: String..., extra: [Wire]) -> [UInt8] {
        ONNX.model(graph: ONNX.minimal + calls.map { ONNX.node($0, domain: "l") }, extra: extra)
    }

    private static func malformation(_ bytes: [UInt8]) -> FormatError.Malformation? {
        do { _ = try inspect(bytes) } catch {
            if case .malformed(.onnx, _, _, let what) = error { return what }
        }
        return nil
    }

    @Test("a runtime needs the greatest operator set of the model and of its functions")
    func operatorSets() throws {
        func opsets(_ version: Int64) throws -> [String: Int64] {
            let imports = [ONNX.opset("", version), ONNX.opset("ai.onnx.ml", 3)]
                .map { Wire.message(9, $0.content) }
            let function = Wire.message(25, [.text(1, "F"), .text(10, "l")] + imports)
            return try inspect(ONNX.model(graph: ONNX.minimal, extra: [function])).requires.opsets
        }
        #expect(try opsets(1_000) == ["ai.onnx": 1_000, "ai.onnx.ml": 3])
        #expect(try opsets(9) == ["ai.onnx": 17, "ai.onnx.ml": 3])
    }

    @Test("one import written twice is one; in two versions, or of what nothing uses, it is no requirement")
    func imports() throws {
        func opsets(_ imports: [Wire], inFunction: [Wire] = []) throws -> [String: Int64] {
            let inner = inFunction.map { Wire.message(9, $0.content) }
            let function = Wire.message(25, [.text(1, "F"), .text(10, "l")] + inner)
            let model = ONNX.model(graph: ONNX.minimal, extra: imports + [function])
            return try inspect(model).requires.opsets
        }
        let again = [ONNX.opset("", 17), ONNX.opset("ai.onnx", 17)]
        #expect(try opsets(again, inFunction: again) == ["ai.onnx": 17])
        let other = [ONNX.opset("", 17), ONNX.opset("", 16)]
        #expect(throws: FormatError.self) { try opsets(other) }
        let function = Wire.message(25, [.text(1, "F")] + other.map { .message(9, $0.content) })
        #expect(Self.malformation(ONNX.model(graph: ONNX.minimal, extra: [function])) == .duplicate)
        // As ONNX Runtime's optimizer imports all that it knows.
        let unused = [
            ("ai.onnx.training", 1), ("com.microsoft", 1), ("com.microsoft.nchwc", 1), ("com.ms.\u{E9}", 1),
        ].map { ONNX.opset($0, $1) }
        #expect(try opsets(unused) == ["ai.onnx": 17, "com.microsoft": 1])
        #expect(try opsets([], inFunction: unused) == ["ai.onnx": 17, "com.microsoft": 1])
        let used = ONNX.node("Conv", domain: "com.microsoft.nchwc")
        let body = Wire.message(25, .text(1, "F"), .text(10, "l"), .message(7, used.content))
        for (graph, extra) in [([used], unused), ([], unused + [body])] {
            do {
                _ = try inspect(ONNX.model(graph: ONNX.minimal + graph, extra: extra))
                Issue.record("taken")
            } catch {
                guard case .refused(.onnx, _, _, .operatorDomain("com.microsoft.nchwc")) = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
    }

    @Test("two functions are one only by domain, name and overload together")
    func names() {
        let one = Self.function("F")
        #expect(Self.malformation(Self.model(calling: "F", extra: [one])) == nil)
        #expect(Self.malformation(Self.model(calling: "F", extra: [one, one])) == .duplicateName)
        let other = Self.function("F", overload: "2")
        #expect(Self.malformation(Self.model(calling: "F", extra: [one, other])) == nil)
        let elsewhere = Wire.message(25, .text(1, "F"), .text(10, "m"))
        #expect(Self.malformation(Self.model(calling: "F", extra: [one, elsewhere])) == nil)
    }

    @Test("an operator of a local domain is one of the functions there, in the graph and in functions")
    func undefined() {
        let one = Self.function("F")
        #expect(Self.malformation(Self.model(calling: "F", "G", extra: [one])) == .undefinedOperator)
        let calling = Self.function("H", calling: "F", "G")
        #expect(Self.malformation(Self.model(calling: "H", extra: [one, calling])) == .undefinedOperator)
        #expect(
            Self.malformation(Self.model(calling: "H", extra: [calling, one, Self.function("G")])) == nil
        )
    }

    @Test("a function that leads back to itself is refused, however long the way")
    func circles() {
        #expect(Self.malformation(Self.model(extra: [Self.function("F", calling: "F")])) == .recursion)
        let chain = (0..<2_000).map { Self.function("F\($0)", calling: "F\($0 + 1)") }
        let end = Self.function("F2000")
        #expect(Self.malformation(Self.model(calling: "F0", extra: chain + [end])) == nil)
        let circle = Self.function("F2000", calling: "F1000")
        #expect(Self.malformation(Self.model(calling: "F0", extra: chain + [circle])) == .recursion)
        let twice = [Self.function("A", calling: "B", "B", "C"), Self.function("B", calling: "C")]
        #expect(Self.malformation(Self.model(calling: "A", extra: twice + [Self.function("C")])) == nil)
    }

    @Test("functions and their names are counted")
    func limits() {
        func limit(_ change: (inout FormatLimits) -> Void) -> String? {
            var limits = FormatLimits()
            change(&limits)
            let bytes = Self.model(extra: [Self.function("F"), Self.function("G")])
            do { _ = try inspect(bytes, limits: limits) } catch {
                if case .limit(.onnx, let which, _, _, _) = error { return which }
            }
            return nil
        }
        #expect(limit { _ in } == nil)
        #expect(limit { $0.functions = 1 } == "operators of functions")
        #expect(limit { $0.functionNames = 4 } == "bytes of names of operators")
    }
}
