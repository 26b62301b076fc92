import CanonicalJSON
import Foundation
import Manifest
import ModelFormats
import Names
import Support
import Testing

@Suite("ONNX values: made once, before they are used")
struct ONNXValueTests {
    private typealias Malformation = FormatError.Malformation

    /// What is wrong with which field, and where in the file that starts.
    private struct Fault: Equatable {
        let field: String
        let what: Malformation
        let offset: UInt64

        init(_ field: String, _ what: Malformation, before rest: Wire..., of bytes: [UInt8]) {
            self.init(field, what, at: UInt64(bytes.count - rest.reduce(0) { $0 + $1.bytes.count }))
        }

        init(_ field: String, _ what: Malformation, at offset: UInt64) {
            self.field = field
            self.what = what
            self.offset = offset
        }
    }

    private static func fault(_ bytes: [UInt8], _ limits: FormatLimits = FormatLimits()) -> Fault? {
        do { _ = try inspect(bytes, limits: limits) } catch {
            guard case .malformed(.onnx, let field, let offset, let what) = error else {
                Issue.record("\(error)")
                return nil
            }
            return Fault(field, what, at: offset)
        }
        return nil
    }

    private static func fault(graph: Wire...) -> Fault? { fault(ONNX.model(graph: graph)) }

    private static func what(graph: Wire...) -> Malformation? { fault(ONNX.model(graph: graph))?.what }

    private static let x = ONNX.input("x")
    private static let y = ONNX.output("y")
    private static let one = ONNX.tensorType(dimensions: [.number(1, 1)])

    private static func node(_ inputs: [String], _ outputs: [String], _ graphs: [Wire]...) -> Wire {
        let attributes = graphs.enumerated().map { index, graph in
            ONNX.attribute("g\(index)", index == 0 ? .message(6, graph) : .message(11, graph))
        }
        return ONNX.node("If", inputs, outputs, attributes: attributes)
    }

    @Test("an output that nothing makes is told with its name and its place")
    func outputs() {
        let end = ONNX.opset("", 17)
        let bytes = ONNX.model(graph: [Self.node(["x"], ["z"]), Self.x, Self.y])
        let fault = Fault("graph.output `y`", .neverMade, before: Self.y, end, of: bytes)
        #expect(Self.fault(bytes) == fault)
        #expect(Self.what(graph: ONNX.output("x"), Self.x) == nil)
        let one = ONNX.output("y", Self.one)
        #expect(Self.what(graph: .message(5, ONNX.tensor("y")), one) == nil)
        let sparse = Wire.message(15, .message(1, ONNX.tensor("y")), .number(3, 1))
        #expect(Self.what(graph: sparse, one) == nil)
        #expect(Self.what(graph: sparse, Self.node([], ["y"]), one) == .madeTwice)
    }

    @Test("an input of a node is made before it: by an input, an initializer or a node that stands earlier")
    func inputs() {
        let last = Self.node(["z"], ["y"])
        let bytes = ONNX.model(graph: [Self.x, Self.y, last])
        let rest = Wire(.text(2, "y"), .text(4, "If"), .text(7, ""), ONNX.opset("", 17))
        #expect(
            Self.fault(bytes) == Fault("node.input `z`", .neverMade, before: .text(1, "z"), rest, of: bytes)
        )
        #expect(Self.what(graph: Self.x, Self.y, last, Self.node(["x"], ["z"])) == .neverMade)
        #expect(Self.what(graph: Self.x, Self.y, Self.node(["x"], ["z"]), last) == nil)
        #expect(Self.what(graph: last, Self.y, .message(5, ONNX.tensor("z"))) == nil)
        #expect(Self.what(graph: last, Self.y, ONNX.input("z")) == nil)
        #expect(Self.what(graph: Self.x, Self.y, Self.node(["x", "", "x"], ["", "y", ""])) == nil)
        #expect(Self.what(graph: Self.x, Self.y, Self.node(["y"], ["y"])) == .neverMade)
    }

    @Test("no value is made twice, except that an input may have an initializer")
    func twice() {
        let make = Self.node(["x"], ["y"])
        let bytes = ONNX.model(graph: [Self.x, Self.y, make, make])
        let rest = Wire(.text(4, "If"), .text(7, ""), ONNX.opset("", 17))
        #expect(
            Self.fault(bytes) == Fault("node.output `y`", .madeTwice, before: .text(2, "y"), rest, of: bytes)
        )
        #expect(Self.what(graph: Self.x, Self.y, Self.node(["x"], ["y", "y"])) == .madeTwice)
        #expect(Self.what(graph: Self.x, Self.y, Self.node([], ["x"])) == .madeTwice)
        #expect(Self.what(graph: .message(5, ONNX.tensor("z")), Self.node([], ["z"])) == .madeTwice)
        #expect(
            Self.what(graph: ONNX.input("x", Self.one), .message(5, ONNX.tensor("x")), Self.y, make) == nil
        )
    }

    @Test("a graph inside a node sees what that node sees, and gives what is its own")
    func nested() {
        func inner(_ graph: Wire..., before: [Wire] = [], after: [Wire] = []) -> Malformation? {
            Self.fault(
                ONNX.model(graph: [Self.x, Self.y] + before + [Self.node(["x"], ["y"], [], graph)] + after)
            )?.what
        }
        #expect(inner(Self.node(["x"], ["a"]), ONNX.output("a")) == nil)
        #expect(inner(Self.node(["x"], ["a"], [Self.node(["x"], ["b"]), ONNX.output("b")])) == nil)
        #expect(inner(Self.node(["x"], ["a"], [Self.node(["a"], ["b"])])) == .neverMade)
        #expect(
            inner(Self.node(["x"], ["a"], [Self.node(["x"], ["b"])]), Self.node(["b"], ["c"])) == .neverMade
        )
        #expect(inner(ONNX.output("x")) == .neverMade)
        #expect(inner(Self.node(["y"], ["a"])) == .neverMade)
        #expect(inner(Self.node(["z"], ["a"]), after: [Self.node(["x"], ["z"])]) == .neverMade)
        #expect(inner(Self.node(["z"], ["a"]), before: [Self.node(["x"], ["z"])]) == nil)
        // A name that is seen may be that of an inner input or initializer, and of no inner node's output.
        #expect(inner(ONNX.input("x"), ONNX.output("x")) == nil)
        #expect(inner(.message(5, ONNX.tensor("x")), ONNX.output("x")) == nil)
        #expect(inner(Self.node([], ["x"])) == .madeTwice)
        #expect(inner(Self.node([], ["y"])) == nil)
        #expect(inner(Self.node([], ["a"]), after: [Self.node([], ["a"])]) == nil)
        #expect(inner(ONNX.input("a"), ONNX.input("a")) == .madeTwice)
        #expect(inner(.message(5, ONNX.tensor("a")), .message(5, ONNX.tensor("a"))) == .madeTwice)
        #expect(inner(ONNX.input("a"), .message(5, ONNX.tensor("a"))) == nil)
    }

    @Test("a function sees its own inputs and what its nodes made, and nothing else")
    func functions() {
        func function(_ inputs: [String], _ outputs: [String] = [], _ nodes: Wire...) -> Malformation? {
            let parts = inputs.map { Wire.text(4, $0) } + outputs.map { .text(5, $0) }
            let body = nodes.map { Wire.message(7, $0.content) }
            let function = Wire.message(25, [.text(1, "F"), .text(10, "l")] + body + parts)
            return Self.fault(ONNX.model(graph: ONNX.minimal, extra: [function]))?.what
        }
        #expect(function(["a"], ["b"], Self.node(["a", ""], ["b"])) == nil)
        #expect(function(["a"], ["b"], Self.node(["x"], ["b"])) == .neverMade)
        #expect(function(["a"], ["b"], Self.node(["c"], ["b"]), Self.node(["a"], ["c"])) == .neverMade)
        #expect(function(["a"], ["b"], Self.node(["a"], ["b"]), Self.node(["a"], ["b"])) == .madeTwice)
        #expect(function(["a"], ["b"], Self.node(["a"], ["a"])) == .madeTwice)
        #expect(function(["a", "a"]) == .madeTwice)
        #expect(function(["a"], ["b", "b"], Self.node(["a"], ["b"])) == .madeTwice)
        #expect(function(["a"], ["b"], Self.node(["a"], ["b"], [Self.node(["a"], ["c"])])) == nil)
        #expect(function(["a"], ["b"], Self.node(["a"], ["b"], [Self.node(["x"], ["c"])])) == .neverMade)
    }

    @Test("as many values as the limit says are kept at a time, with those of graphs around")
    func limit() throws {
        var limits = FormatLimits()
        limits.values = 100
        func which(_ nodes: [Wire]) -> String? {
            do { _ = try inspect(ONNX.model(graph: [Self.x] + nodes), limits: limits) } catch {
                guard case .limit(.onnx, let which, let offset, 101, 100) = error, offset > 0 else {
                    return "\(error)"
                }
                return which
            }
            return nil
        }
        func chain(_ count: Int, _ name: String = "n") -> [Wire] {
            (0..<count).map { Self.node([$0 == 0 ? "x" : "\(name)\($0 - 1)"], ["\(name)\($0)"]) }
        }
        #expect(which(chain(99)) == nil)
        #expect(which(chain(100)) == "values of graphs")
        func initializers(_ count: Int) -> [Wire] { (0..<count).map { .message(5, ONNX.tensor("w\($0)")) } }
        #expect(which(initializers(99)) == nil)
        #expect(which(initializers(50) + chain(50)) == "values of graphs")
        #expect(which(initializers(101)) == "values of graphs")
        let inner = Self.node([], [], chain(50, "i"))
        #expect(which(chain(49) + [inner, inner] + chain(50, "m")) == nil)
        #expect(which(chain(50) + [inner]) == "values of graphs")
    }

    @Test("a hundred thousand names stay apart, whatever their lengths")
    func many() {
        let names = (0..<100_000).map { String(repeating: "v", count: $0 % 19) + "\($0)" }
        let nodes = zip(["x"] + names, names).map { Self.node([$0], [$1]) }
        #expect(Self.fault(ONNX.model(graph: [Self.x] + nodes)) == nil)
        for twin in [0, 50_000, 99_999] {
            #expect(
                Self.fault(ONNX.model(graph: [Self.x] + nodes + [Self.node([], [names[twin]])]))?.what
                    == .madeTwice
            )
        }
    }

    @Test(
        "the official checker refuses the same changed models for the same reasons",
        .enabled(
            if: OfficialViewTests.python != nil,
            "no Python with the package onnx: set SEALIFT_PYTHON, or run `make test`"
        )
    )
    func officialChecker() throws {
        let scratch = Scratch()
        var seen: [String: Int] = [:]
        let python = try #require(OfficialViewTests.python)
        for verdict in try Peer.lines(python, "onnx_values.py", [scratch.path]) {
            let path = try #require(verdict["path"]?.string)
            let expected = try #require(verdict["found"]?.string)
            let bytes = Array(try Data(contentsOf: URL(filePath: path)))
            var found = "well"
            do { _ = try inspect(bytes) } catch {
                switch error {
                case .malformed(_, _, _, .neverMade): found = "never made"
                case .malformed(_, _, _, .madeTwice), .malformed(_, _, _, .duplicateName):
                    found = "made twice"
                default: found = "\(error)"
                }
            }
            #expect(found == expected, "\(path): \(verdict["said"]?.string ?? "")")
            seen[expected, default: 0] += 1
        }
        for verdict in ["well", "never made", "made twice"] {
            #expect(seen[verdict, default: 0] > 100, "\(verdict): \(seen)")
        }
    }
}
