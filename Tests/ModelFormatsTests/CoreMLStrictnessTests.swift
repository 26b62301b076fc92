import CanonicalJSON
import Manifest
import ModelFormats
import Names
import Testing

@Suite("Core ML: what a specification may say")
struct CoreMLStrictnessTests {
    private func malformation(_ model: Wire) -> FormatError.Malformation? {
        do { _ = try CoreML.inspect(model) } catch {
            guard case .malformed(_, _, _, let what) = error else { return nil }
            return what
        }
        return nil
    }

    private func version(_ said: Int64, _ input: Wire, _ kind: Wire = .message(900)) throws -> Int64? {
        let description = [CoreML.input("x", input), CoreML.output("y")]
        let model = CoreML.model(version: said, description: description, kind)
        return try CoreML.inspect(model).requires.specificationVersion
    }

    @Test("what is required is what is used, where that is more than the file says")
    func versions() throws {
        #expect(try version(1, CoreML.array()) == 1)
        #expect(try version(8, CoreML.array()) == 8)
        #expect(try version(3, CoreML.array(65_552)) == 7)
        #expect(try version(3, CoreML.array(131_080)) == 10)
        let range = Wire.message(31, .message(1, .number(1, 1), .number(2, -1)))
        #expect(try version(1, CoreML.array(65_568, range)) == 3)
        let image = Wire.message(3, .message(4, .number(1, 2), .number(2, 2), .number(3, 40)))
        #expect(try version(1, image) == 7)
        let state = Wire.message(
            13,
            .text(1, "s"),
            .message(3, .message(8, .message(1, .number(1, 2), .number(2, 65_552))))
        )
        let model = CoreML.model(
            version: 7,
            description: [CoreML.input("x"), CoreML.output("y"), state],
            .message(900)
        )
        let found = try CoreML.inspect(model)
        #expect(found.requires.specificationVersion == 9)
        #expect(found.statedVersion == 7)
    }

    @Test("a version that no reader knows is refused")
    func unknown() {
        #expect(malformation(CoreML.model(version: 10, .message(900))) == nil)
        #expect(malformation(CoreML.model(version: 11, .message(900))) == .unknownVersion(11))
        #expect(malformation(CoreML.model(version: 0, .message(900))) == .outOfRange)
    }

    @Test("what is predicted is an output")
    func predicted() {
        func said(_ name: String, _ field: UInt64 = 11) -> FormatError.Malformation? {
            malformation(
                CoreML.model(
                    description: [CoreML.input("x"), CoreML.output("y"), .text(field, name)],
                    .message(900)
                )
            )
        }
        #expect(said("y") == nil)
        #expect(said("") == nil)
        #expect(said("z") == .badReference)
        #expect(said("x", 12) == .badReference)
    }

    @Test("what describes a feature is text, though nothing is made of it")
    func descriptions() {
        func described(_ bytes: [UInt8]) -> FormatError.Malformation? {
            let feature = Wire.message(1, .text(1, "x"), .payload(2, bytes), CoreML.array())
            return malformation(CoreML.model(description: [feature, CoreML.output("y")], .message(900)))
        }
        #expect(described(Array("größe".utf8)) == nil)
        #expect(described([0x67, 0xFF]) == .badText)
    }

    @Test("no class has the label of another")
    func labels() {
        func network(_ labels: Wire) -> FormatError.Malformation? {
            malformation(CoreML.model(.message(403, labels)))
        }
        #expect(network(.message(100, .text(1, "a"), .text(1, "b"))) == nil)
        #expect(network(.message(100, .text(1, "a"), .text(1, "b"), .text(1, "a"))) == .duplicate)
        #expect(network(.message(101, .payload(1, [1, 2]))) == nil)
        #expect(network(.message(101, .payload(1, [1, 2, 1]))) == .duplicate)
    }

    @Test(
        "a classifier or tagger of texts says its labels too",
        arguments: [2_000, 2_001, 2_004] as [UInt64]
    )
    func tags(_ kind: UInt64) throws {
        func read(_ tags: Wire...) throws -> ClassLabels? {
            let content = [Wire.number(1, 1), .payload(100, [1, 2, 3])] + tags
            return try CoreML.inspect(CoreML.model(.message(kind, content))).interface.labels
        }
        let tags = Wire.message(200, .text(1, "p"), .text(1, "n"))
        #expect(try read(tags) == texts("p", "n"))
        #expect(try read() == nil)
        #expect(throws: FormatError.self) { try read(tags, tags) }
        let twice = CoreML.model(.message(kind, .message(200, .text(1, "p"), .text(1, "p"))))
        #expect(malformation(twice) == .duplicate)
    }

    @Test("labels are of the kind of what is predicted")
    func kinds() {
        let texts = Wire.message(403, .message(100, .text(1, "a"), .text(1, "b")))
        let numbers = Wire.message(403, .message(101, .payload(1, [1, 2])))
        func said(_ type: Wire, _ kind: Wire, predicted: UInt64 = 11) -> FormatError.Malformation? {
            let description = [CoreML.input("x"), CoreML.output("c", type), .text(predicted, "c")]
            return malformation(CoreML.model(description: description, kind))
        }
        // FeatureType: 1 int64, 3 string, 6 dictionary with its kind of key at 1 or 2.
        let (number, text) = (Wire.message(3, .message(1)), Wire.message(3, .message(3)))
        let byNumber = Wire.message(3, .message(6, .message(1)))
        let byText = Wire.message(3, .message(6, .message(2)))
        for (type, kind) in [(number, numbers), (text, texts), (CoreML.array(), texts)] {
            #expect(said(type, kind) == nil)
        }
        #expect(said(number, texts) == .contradiction)
        #expect(said(text, numbers) == .contradiction)
        #expect(said(byNumber, numbers, predicted: 12) == nil)
        #expect(said(byText, texts, predicted: 12) == nil)
        #expect(said(byNumber, texts, predicted: 12) == .contradiction)
        #expect(said(byText, numbers, predicted: 12) == .contradiction)
        // Also of a model inside a pipeline, and whichever of the two stands first.
        let description = Wire.message(2, CoreML.input("x"), CoreML.output("c", number), .text(11, "c"))
        let inner = Wire.message(1, .number(1, 4), texts, description)
        #expect(malformation(CoreML.model(.message(202, inner))) == .contradiction)
    }

    @Test("a program inside a pipeline takes what its own description says, and the pipeline may take more")
    func programs() throws {
        let block = Wire.message(3, .text(1, "CoreML5"), .message(2))
        let function = Wire.message(2, .message(1, .text(1, "x")), block)
        let program = Wire.message(502, .message(2, .text(1, "main"), function))
        func pipeline(around input: String) -> Wire {
            let inner = CoreML.model(description: [CoreML.input(input), CoreML.output("y")], program)
            let description = [CoreML.input("x"), CoreML.input("threshold"), CoreML.output("y")]
            return CoreML.model(description: description, .message(202, .payload(1, inner.bytes)))
        }
        let found = try CoreML.inspect(pipeline(around: "x")).interface
        #expect(found.inputs.map(\.name.description) == ["x", "threshold"])
        #expect(malformation(pipeline(around: "z")) == .contradiction)
    }

    @Test("labels are counted as a manifest would write them, and one too many is refused where it stands")
    func manyLabels() throws {
        var limits = FormatLimits()
        limits.labels = 3
        limits.labelBytes = 16
        func read(_ labels: Wire) throws -> Inspection {
            let bytes = CoreML.model(.message(403, labels)).bytes
            return try ModelFile.inspect(source: MemorySource(bytes), name: "m.mlmodel", limits: limits)
        }
        func refusal(_ labels: Wire) -> (which: String, found: UInt64)? {
            do { _ = try read(labels) } catch FormatError.limit(_, let which, let offset, let found, _) {
                return offset > 0 ? (which, found) : nil
            } catch {}
            return nil
        }
        // Each with two quotation marks and a comma: 5, 5, 6.
        let fitting = try read(.message(100, .text(1, "aa"), .text(1, "bb"), .text(1, "ccc")))
        #expect(fitting.interface.labels == texts("aa", "bb", "ccc"))
        let long = refusal(.message(100, .text(1, "aa"), .text(1, "bb"), .text(1, "cccc")))
        #expect(long?.which == "bytes of class labels" && long?.found == 17)
        let many = refusal(.message(100, [String]("abcd".map { "\($0)" }).map { .text(1, $0) }))
        #expect(many?.which == "class labels" && many?.found == 4)
        let integers = refusal(.message(101, .payload(1, [1, 2, 3, 4])))
        #expect(integers?.found == 4)
        let digits = refusal(.message(101, .number(1, -1_234_567), .number(1, 1_234_567)))
        #expect(digits?.which == "bytes of class labels" && digits?.found == 17)
    }

    @Test("a million labels are refused before they are kept")
    func endlessLabels() {
        let labels = Wire.message(100, (0..<1_000_000).map { .text(1, "\($0)") })
        do {
            _ = try CoreML.inspect(CoreML.model(.message(403, labels)))
            Issue.record("not refused")
        } catch {
            guard case .limit(_, let which, _, let found, let limit) = error else {
                Issue.record(error)
                return
            }
            #expect(which == "bytes of class labels" && limit == 1 << 20 && found <= limit + 16)
        }
    }

    @Test("a default shape is one of those that are taken")
    func defaults() {
        func array(_ flexible: Wire) -> FormatError.Malformation? {
            malformation(
                CoreML.model(
                    description: [CoreML.input("x", CoreML.array(65_568, flexible)), CoreML.output("y")],
                    .message(900)
                )
            )
        }
        func enumerated(_ sizes: Int64...) -> Wire { .message(21, sizes.map { .message(1, .number(1, $0)) }) }
        #expect(array(enumerated(1, 2)) == nil)
        #expect(array(enumerated(1, 3)) == .contradiction)
        #expect(array(.message(31, .message(1, .number(1, 3), .number(2, 4)))) == .contradiction)
    }
}
