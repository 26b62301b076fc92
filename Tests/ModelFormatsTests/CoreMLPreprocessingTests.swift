import CanonicalJSON
import Manifest
import ModelFormats
import Names
import Testing

/// The pieces of a Core ML specification, for files that no official library would write.
enum CoreML {
    /// An array of two elements, of `float32` unless told otherwise.
    static func array(_ element: Int64 = 65_568, _ extra: Wire...) -> Wire {
        .message(3, .message(5, [.number(1, 2), .number(2, element)] + extra))
    }

    static func input(_ name: String, _ type: Wire = array()) -> Wire { .message(1, .text(1, name), type) }

    static func output(_ name: String, _ type: Wire = array()) -> Wire { .message(10, .text(1, name), type) }

    /// A Model of `version`; its description takes `x` and gives `y` unless told otherwise.
    static func model(
        version: Int64 = 4,
        description: [Wire] = [input("x"), output("y")],
        _ kind: Wire
    ) -> Wire {
        Wire(.number(1, version), .message(2, description), kind)
    }

    static func network(_ preprocessing: Wire...) -> Wire { .message(500, preprocessing) }

    static func inspect(_ model: Wire) throws(FormatError) -> Inspection {
        try ModelFile.inspect(source: MemorySource(model.bytes), name: "model.mlmodel")
    }
}

extension Wire {
    static func float(_ field: UInt64, _ value: Float) -> Wire {
        .raw(varint(field << 3 | 5) + (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> ($0 * 8)) })
    }
}

@Suite("Core ML: what a network does to its inputs")
struct CoreMLPreprocessingTests {
    private func scaler(_ feature: String, _ numbers: Wire...) -> Wire {
        .message(2, .text(1, feature), .message(10, numbers))
    }

    private func mean(_ numbers: Wire) -> Wire { .message(2, .text(1, "x"), .message(11, numbers)) }

    private func said(_ model: Wire) throws -> String? {
        try CoreML.inspect(model).interface.preprocessing.flatMap(\.canonicalText)
    }

    @Test("a scaler is read, and a number that is 0 is the one that is left out")
    func scalers() throws {
        let one = try said(CoreML.model(CoreML.network(scaler("x", .float(10, 2), .float(30, -0.5)))))
        let scaled = #"{"inside_model":{"x":{"scaler":{"channel_scale":"2.0","gray_bias":"-0.5"}}}}"#
        #expect(one == scaled)
        let zero = CoreML.network(scaler("x", .float(10, 2), .float(30, -0.5), .float(20, 0)))
        #expect(try said(CoreML.model(zero)) == scaled)
        #expect(try said(CoreML.model(CoreML.network())) == nil)
    }

    @Test("a feature may have any name, and a manifest can say it")
    func names() throws {
        let model = CoreML.model(CoreML.network(scaler("入%", .float(10, 2)), scaler("%E5", .float(10, 3))))
        let one = #""%25E5":{"scaler":{"channel_scale":"3.0"}}"#
        let other = #""%E5%85%A5%25":{"scaler":{"channel_scale":"2.0"}}"#
        #expect(try said(model) == "{\"inside_model\":{\(one),\(other)}}")
    }

    @Test("a mean image is told by its numbers, packed or not")
    func meanImages() throws {
        let packed = try said(
            CoreML.model(CoreML.network(mean(.payload(1, [0, 0, 128, 63, 0, 0, 0, 64]))))
        )
        let single = try said(CoreML.model(CoreML.network(mean(Wire(.float(1, 1), .float(1, 2))))))
        let other = try said(CoreML.model(CoreML.network(mean(Wire(.float(1, 1), .float(1, 3))))))
        #expect(packed?.contains(#""mean_image":{"count":2,"sha256":""#) == true)
        #expect(packed == single)
        #expect(packed != other)
    }

    @Test("networks inside a pipeline count too, each by its place")
    func pipelines() throws {
        let inner = CoreML.model(CoreML.network(scaler("x", .float(10, 2))))
        let pipeline = Wire.message(202, .payload(1, inner.bytes), .payload(1, inner.bytes))
        let found = try CoreML.inspect(CoreML.model(pipeline)).interface.preprocessing
        let keys = found?[Interface.insideKey]?.object?.members.map(\.key.string)
        #expect(keys == ["models[0].x", "models[1].x"])
    }

    @Test("two of one feature, two kinds, and numbers that are none are malformed")
    func broken() {
        func malformation(_ preprocessing: Wire...) -> FormatError.Malformation? {
            do { _ = try CoreML.inspect(CoreML.model(.message(500, preprocessing))) } catch {
                guard case .malformed(_, _, _, let what) = error else { return nil }
                return what
            }
            return nil
        }
        let good = scaler("x", .float(10, 2))
        #expect(malformation(good, scaler("y", .float(10, 2))) == nil)
        #expect(malformation(good, good) == .duplicate)
        #expect(malformation(.message(2, .text(1, "x"), .message(10), .message(11))) == .contradiction)
        #expect(malformation(scaler("x", .float(10, .nan))) == .notFinite)
        #expect(malformation(scaler("x", .number(10, 2))) == .wrongWireType)
        #expect(malformation(mean(.payload(1, [0, 0, 0]))) == .wrongLength(expected: 0, found: 3))
    }

    @Test("another scaler does not fit an app that says the old, and is a major step")
    func compared() throws {
        let old = try CoreML.inspect(CoreML.model(CoreML.network(scaler("x", .float(10, 2))))).interface
        let new = try CoreML.inspect(CoreML.model(CoreML.network(scaler("x", .float(10, 3))))).interface
        let changes = ContractChanges(from: old, to: new)
        #expect(changes.step == .major)
        #expect(changes.changes.map(\.row) == [.preprocessingChanged])
        guard case .incompatible(let findings) = Compatibility.verdict(.satisfied(by: old), new) else {
            Issue.record("another scaler was taken")
            return
        }
        #expect(findings.map(\.row) == [.preprocessingChanged])
        var silent = Manifest.Expectation.satisfied(by: old)
        silent.preprocessing = nil
        #expect(Compatibility.verdict(silent, new).allowsUse)
    }
}
