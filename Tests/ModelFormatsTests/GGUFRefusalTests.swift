import Manifest
import ModelFormats
import Names
import Testing

/// GGUF as it stands in a file, for files that no official library would write.
struct GGUFWriter {
    var version: UInt32 = 3
    var architecture = GGUFWriter.pair("general.architecture", 8, GGUFWriter.text("llama"))
    var pairs: [[UInt8]] = []
    var tensors: [[UInt8]] = []
    var data: [UInt8] = []

    static func number(_ value: some FixedWidthInteger) -> [UInt8] {
        (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    static func text(_ text: String) -> [UInt8] { number(UInt64(text.utf8.count)) + Array(text.utf8) }

    static func pair(_ key: String, _ type: UInt32, _ value: [UInt8]) -> [UInt8] {
        text(key) + number(type) + value
    }

    static func tensor(_ name: String, _ sizes: [UInt64], type: UInt32 = 0, at offset: UInt64 = 0) -> [UInt8]
    {
        text(name) + number(UInt32(sizes.count)) + sizes.flatMap { number($0) } + number(type)
            + number(offset)
    }

    var bytes: [UInt8] {
        let pairs = architecture.isEmpty ? pairs : [architecture] + pairs
        let counts = Self.number(UInt64(tensors.count)) + Self.number(UInt64(pairs.count))
        let head = Array("GGUF".utf8) + Self.number(version) + counts + (pairs + tensors).flatMap { $0 }
        return head + Array(repeating: 0, count: (32 - head.count % 32) % 32) + data
    }
}

@Suite("GGUF files that are refused")
struct GGUFRefusalTests {
    private func refusal(_ edit: (inout GGUFWriter) -> Void) -> FormatError? {
        var writer = GGUFWriter()
        edit(&writer)
        do { _ = try ModelFile.inspect(source: MemorySource(writer.bytes), name: "model.gguf") } catch {
            return error
        }
        return nil
    }

    private func malformation(_ edit: (inout GGUFWriter) -> Void) -> FormatError.Malformation? {
        guard case .malformed(_, let field, _, let what) = refusal(edit) else { return nil }
        return field.isEmpty ? nil : what
    }

    @Test("what is well formed is read")
    func wellFormed() {
        #expect(refusal { _ in } == nil)
        #expect(refusal { $0.version = 2 } == nil)
        let two = refusal { writer in
            writer.tensors = [GGUFWriter.tensor("a", [3]), GGUFWriter.tensor("b", [8], at: 32)]
            writer.data = Array(repeating: 0, count: 64)
        }
        #expect(two == nil)
    }

    @Test("pairs about a tokenizer are counted, and the first beyond the limit is told with its place")
    func tokenizers() {
        func pairs(_ count: Int) -> FormatError? {
            refusal { writer in
                writer.pairs = (0..<count).map {
                    GGUFWriter.pair("tokenizer.ggml.\($0)", 8, GGUFWriter.text(""))
                }
            }
        }
        #expect(pairs(4_096) == nil)
        guard case .limit(.gguf, "pairs about its tokenizer", let offset, 4_097, 4_096)? = pairs(4_097) else {
            Issue.record("\(String(describing: pairs(4_097)))")
            return
        }
        #expect(offset > 4_096 * 20)
    }

    @Test("without an architecture, or with one that is no text, no runtime could load it")
    func architecture() {
        #expect(malformation { $0.architecture = [] } == .missing)
        let number = GGUFWriter.pair("general.architecture", 4, GGUFWriter.number(UInt32(1)))
        #expect(malformation { $0.architecture = number } == .wrongWireType)
        let list = [8, 0, 0, 0] + GGUFWriter.number(UInt64(1)) + GGUFWriter.text("llama")
        #expect(
            malformation { $0.architecture = GGUFWriter.pair("general.architecture", 9, list) }
                == .wrongWireType
        )
        let empty = GGUFWriter.pair("general.architecture", 8, GGUFWriter.text(""))
        #expect(malformation { $0.architecture = empty } == .badName)
    }

    @Test("numbers that a network is told by are whole, and from 0 up")
    func numbers() {
        func context(_ type: UInt32, _ value: [UInt8]) -> FormatError.Malformation? {
            malformation { $0.pairs = [GGUFWriter.pair("llama.context_length", type, value)] }
        }
        #expect(context(4, GGUFWriter.number(UInt32(4_096))) == nil)
        #expect(context(10, GGUFWriter.number(UInt64(1) << 40)) == nil)
        #expect(context(10, GGUFWriter.number(UInt64(1) << 40 + 1)) == .outOfRange)
        #expect(context(5, GGUFWriter.number(Int32(-1))) == .outOfRange)
        #expect(context(6, GGUFWriter.number(Float(4_096).bitPattern)) == .wrongWireType)
        #expect(context(8, GGUFWriter.text("4096")) == .wrongWireType)
    }

    @Test("numbers of another network than the file's own may be anything, and say nothing of it")
    func otherNetworks() throws {
        var writer = GGUFWriter()
        writer.architecture = GGUFWriter.pair("general.architecture", 8, GGUFWriter.text("clip"))
        let sizes = [4, 0, 0, 0] + GGUFWriter.number(UInt64(2)) + GGUFWriter.number(UInt64(0))
        writer.pairs = [
            GGUFWriter.pair("clip.vision.embedding_length", 9, sizes),
            GGUFWriter.pair("clip.embedding_length", 4, GGUFWriter.number(UInt32(768))),
            GGUFWriter.pair("llama.context_length", 5, GGUFWriter.number(Int32(-1))),
            GGUFWriter.pair("draft.vocab_size", 8, GGUFWriter.text("many")),
        ]
        let found = try ModelFile.inspect(source: MemorySource(writer.bytes), name: "model.gguf")
        var facts = NetworkFacts(architecture: FeatureName("clip"))
        facts.embeddingLength = 768
        #expect(found.interface.network == facts)
    }

    @Test("as many pairs, and as long a template, as real models may have")
    func long() {
        let many = (0..<60_000).map { GGUFWriter.pair("k\($0)", 0, [1]) }
        #expect(refusal { $0.pairs = many } == nil)
        let template = GGUFWriter.text(String(repeating: "x", count: 3 << 20))
        #expect(refusal { $0.pairs = [GGUFWriter.pair("tokenizer.chat_template", 8, template)] } == nil)
        #expect(refusal { $0.pairs = [GGUFWriter.pair("general.description", 8, template)] } == nil)
    }

    @Test("keys of what is shown nowhere are counted too, since all keys are kept")
    func hiddenKeys() {
        let name = "tokenizer.chat_template." + String(repeating: "x", count: 60_000)
        let many = (0..<200).map { GGUFWriter.pair("\(name)\($0)", 8, GGUFWriter.text("")) }
        let found = refusal { $0.pairs = many }
        guard case .limit(.gguf, "bytes of metadata", _, _, _)? = found else {
            Issue.record("\(String(describing: found))")
            return
        }
    }

    @Test("tensors that overlap, leave a gap, are misaligned, end outside or leave bytes behind")
    func extents() {
        func place(_ second: UInt64, length: Int) -> FormatError.Malformation? {
            malformation { writer in
                writer.tensors = [GGUFWriter.tensor("a", [16]), GGUFWriter.tensor("b", [8], at: second)]
                writer.data = Array(repeating: 0, count: length)
            }
        }
        #expect(place(64, length: 96) == nil)
        #expect(place(32, length: 96) == .overlap)
        #expect(place(96, length: 128) == .gap)
        #expect(place(65, length: 128) == .misaligned)
        #expect(place(64, length: 95) == .endsEarly)
        #expect(place(64, length: 97) == .trailingBytes)
    }

    @Test("dimensions that are too many, too large, or no whole number of blocks")
    func dimensions() {
        func shape(_ sizes: [UInt64], type: UInt32 = 0) -> FormatError? {
            refusal { writer in
                writer.tensors = [GGUFWriter.tensor("a", sizes, type: type)]
                writer.data = Array(repeating: 0, count: 64)
            }
        }
        for sizes in [[1, 1, 1, 1, 1], [1 << 41], [1 << 30, 1 << 30], [UInt64.max]] as [[UInt64]] {
            guard case .limit(.gguf, let which, let offset, _, _) = shape(sizes) else {
                Issue.record("\(sizes) was not refused by a limit")
                continue
            }
            #expect(which.contains("`a`") && offset > 24)
        }
        #expect(shape([31], type: 8) != nil)
        #expect(shape([32], type: 8) == nil)
        #expect(shape([32], type: 4) != nil)
    }

    @Test("names that stand twice, lengths that wrap, numbers that are no bool, an alignment of another type")
    func pairs() {
        let pair = GGUFWriter.pair
        #expect(malformation { $0.pairs = [pair("a", 7, [2])] } == .outOfRange)
        #expect(
            malformation { $0.pairs = [pair("a", 9, [7, 0, 0, 0] + GGUFWriter.number(UInt64(1)) + [2])] }
                == .outOfRange
        )
        #expect(
            malformation { $0.pairs = [pair("general.alignment", 10, GGUFWriter.number(UInt64(32)))] }
                == .wrongWireType
        )
        #expect(malformation { $0.pairs = [pair("a", 0, [1]), pair("a", 0, [1])] } == .duplicate)
        #expect(malformation { $0.pairs = [pair("a\u{0}", 0, [1])] } == .badName)
        let wrapping = GGUFWriter.number(UInt64.max) + Array(repeating: 0, count: 64)
        #expect(malformation { $0.pairs = [pair("a", 8, wrapping)] } == .endsEarly)
        #expect(malformation { $0.pairs = [wrapping] } == .endsEarly)
        for count in [UInt64(1) << 24, 1 << 28, .max] {
            for type in [0, 8, 12] as [UInt32] {
                let array = GGUFWriter.number(type) + GGUFWriter.number(count)
                #expect(refusal { $0.pairs = [pair("a", 9, array)] } != nil)
            }
        }
        let twice = malformation { writer in
            writer.tensors = [GGUFWriter.tensor("a", [8]), GGUFWriter.tensor("a", [8], at: 32)]
            writer.data = Array(repeating: 0, count: 64)
        }
        #expect(twice == .duplicateName)
    }
}
