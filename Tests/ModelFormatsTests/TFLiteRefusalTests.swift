import Manifest
import ModelFormats
import Names
import Testing

@Suite("TensorFlow Lite files that are refused")
struct TFLiteRefusalTests {
    /// A model by hand: version 3, one buffer, one subgraph of one tensor that is its input and output.
    ///
    /// Offsets are written forward, tables first, as a verifier would lay it out.
    struct Small {
        var version: UInt32 = 3
        var input: Int32 = 0
        var buffer: UInt32 = 0
        var size: Int32 = 4
        var name = "x"
        var vectorCount: UInt32 = 1

        /// How often a signature names the one input, up to twice; without a signature if `nil`.
        var signedInputs: UInt32?

        /// A table whose fields are 4 bytes each, at the slots given; each value a number, or the place it refers to.
        private static func table(_ fields: [(slot: Int, value: Value)], at start: Int) -> [UInt8] {
            let slots = (fields.map(\.slot).max() ?? 2) + 2
            let padded = (slots + 3) / 4 * 4
            var vtable = [UInt8](repeating: 0, count: padded)
            let put = { (value: Int, place: Int) in
                vtable[place] = UInt8(value & 0xFF)
                vtable[place + 1] = UInt8(value >> 8)
            }
            put(slots, 0)
            put(4 + fields.count * 4, 2)
            var body: [UInt8] = GGUFWriter.number(Int32(padded))
            for (index, field) in fields.enumerated() {
                put(4 + index * 4, field.slot)
                let place = start + padded + 4 + index * 4
                switch field.value {
                case .number(let number): body += GGUFWriter.number(number)
                case .place(let target): body += GGUFWriter.number(UInt32(target - place))
                }
            }
            return vtable + body
        }

        enum Value {
            case number(UInt32)
            case place(Int)
        }

        /// Parts at places of their own, 64 bytes each.
        var bytes: [UInt8] {
            // Not longer than its parts: bytes that belong to nothing are refused.
            let parts = signedInputs.map { $0 > 1 ? 20 : 19 } ?? 11
            var file = [UInt8](repeating: 0, count: 64 * parts)
            func put(_ part: [UInt8], _ number: Int) {
                file.replaceSubrange(64 * number..<64 * number + part.count, with: part)
            }
            func vector(_ elements: [UInt8], count: UInt32) -> [UInt8] { GGUFWriter.number(count) + elements }
            // A table lies after its vtable: 24 bytes for the model, and so on.
            var model: [(slot: Int, value: Value)] = [
                (4, .number(version)), (8, .place(64 * 2)), (12, .place(64 * 7)),
            ]
            if signedInputs != nil { model.append((18, .place(64 * 11))) }
            put(GGUFWriter.number(UInt32(64 + (signedInputs == nil ? 16 : 20))) + Array("TFL3".utf8), 0)
            put(Self.table(model, at: 64), 1)
            put(vector(GGUFWriter.number(UInt32(64 * 3 + 12 - 64 * 2 - 4)), count: vectorCount), 2)
            put(Self.table([(4, .place(64 * 4)), (6, .place(64 * 5)), (8, .place(64 * 5))], at: 64 * 3), 3)
            put(vector(GGUFWriter.number(UInt32(64 * 6 + 12 - 64 * 4 - 4)), count: 1), 4)
            put(vector(GGUFWriter.number(input), count: 1), 5)
            put(
                Self.table([(4, .place(64 * 9)), (8, .number(buffer)), (10, .place(64 * 10))], at: 64 * 6),
                6
            )
            put(vector(GGUFWriter.number(UInt32(64 * 8 + 4 - 64 * 7 - 4)), count: 1), 7)
            put(Self.table([], at: 64 * 8), 8)
            put(vector(GGUFWriter.number(size), count: 1), 9)
            put(vector(Array(name.utf8) + [0], count: UInt32(name.utf8.count)), 10)
            if let signedInputs {
                // The signature, and two names of the one tensor.
                put(vector(GGUFWriter.number(UInt32(64 * 12 + 12 - 64 * 11 - 4)), count: 1), 11)
                let signature = [(4, 64 * 13), (6, 64 * 14), (8, 64 * 15)]
                put(Self.table(signature.map { (slot: $0.0, value: .place($0.1)) }, at: 64 * 12), 12)
                let (first, second) = (UInt32(64 * 16 + 8), UInt32(64 * 17 + 8))
                let places = GGUFWriter.number(first - 64 * 13 - 4) + GGUFWriter.number(second - 64 * 13 - 8)
                put(vector(places, count: signedInputs), 13)
                put(vector(GGUFWriter.number(first - 64 * 14 - 4), count: 1), 14)
                for (number, text) in [(15, "serve"), (18, "a"), (19, "b")] where number < parts {
                    put(vector(Array(text.utf8) + [0], count: UInt32(text.utf8.count)), number)
                }
                put(Self.table([(4, .place(64 * 18)), (6, .number(0))], at: 64 * 16), 16)
                if parts > 19 { put(Self.table([(4, .place(64 * 19)), (6, .number(0))], at: 64 * 17), 17) }
            }
            return file
        }
    }

    private func refusal(_ edit: (inout Small) -> Void) -> FormatError? {
        var small = Small()
        edit(&small)
        do { _ = try ModelFile.inspect(source: MemorySource(small.bytes), name: "model.tflite") } catch {
            return error
        }
        return nil
    }

    private func field(_ edit: (inout Small) -> Void) -> String? {
        guard case .malformed(.tflite, let field, _, _) = refusal(edit) else { return nil }
        return field
    }

    @Test("what is well formed is read")
    func wellFormed() throws {
        let found = try ModelFile.inspect(source: MemorySource(Small().bytes), name: "model.tflite")
        let type = ValueType.tensor(TensorType(element: .float32, shape: .fixed([4])))
        #expect(found.interface.inputs == [Feature(name: try #require(FeatureName("x")), type: type)])
        #expect(found.interface.outputs == found.interface.inputs)
    }

    @Test("indices and sizes outside of what they refer to")
    func references() {
        #expect(field { $0.input = -1 }?.contains("inputs") == true)
        #expect(field { $0.input = 1 }?.contains("inputs") == true)
        #expect(field { $0.buffer = 7 }?.contains("buffer") == true)
        #expect(field { $0.size = -1 }?.contains("shape") == true)
        #expect(field { $0.vectorCount = 1 << 30 } != nil || refusal { $0.vectorCount = 1 << 30 } != nil)
        #expect(field { $0.name = "" }?.contains("name") == true)
        #expect(field { $0.version = 4 } == "model.version")
    }

    @Test("a signature names every input of its subgraph, each once")
    func signatures() throws {
        var small = Small()
        small.signedInputs = 1
        let found = try ModelFile.inspect(source: MemorySource(small.bytes), name: "model.tflite").interface
        #expect(found.inputs.map(\.name.description) == ["a"])
        #expect(found.outputs.map(\.name.description) == ["a"])
        #expect(found.defaultFunction == FeatureName("serve"))
        #expect(field { $0.signedInputs = 0 }?.hasSuffix("inputs `x`") == true)
        #expect(field { $0.signedInputs = 2 }?.hasSuffix("inputs") == true)
    }

    @Test("every way to turn one byte of the structure is an answer, not a crash")
    func everyByte() {
        let original = Small().bytes
        for index in original.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = original
                bytes[index] = value
                _ = try? ModelFile.inspect(source: MemorySource(bytes), name: "model.tflite")
            }
        }
    }

    @Test("what a file has too many of is called what it is")
    func signatureValues() throws {
        var limits = FormatLimits()
        limits.signatureValues = 0
        var small = Small()
        small.signedInputs = 1
        let bytes = small.bytes
        do {
            _ = try ModelFile.inspect(source: MemorySource(bytes), name: "m.tflite", limits: limits)
            Issue.record("not refused")
        } catch {
            guard case .limit(.tflite, "inputs and outputs of signatures", _, 1, 0) = error else {
                Issue.record(error)
                return
            }
        }
    }
}
