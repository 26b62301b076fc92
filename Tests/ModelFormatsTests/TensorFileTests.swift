import CanonicalJSON
import Manifest
import ModelFormats
import Names
import Testing

@Suite("safetensors and GGUF files of the official libraries")
struct TensorFileTests {
    @Test("the tensors of a safetensors file are those that the library sees")
    func safetensors() throws {
        let found = try Fixtures.inspect("safetensors/tiny.safetensors")
        let schema = try Fixtures.schema("safetensors/tiny.safetensors.expected.json")
        let tensors = schema["tensors"]?.object?.members ?? []
        #expect(found.format == .safetensors)
        #expect(found.tensors.map(\.name.description).sorted() == tensors.map(\.key.string))
        for row in found.tensors {
            let expected = schema["tensors"]?[row.name.description]
            #expect(row.type == expected?["dtype"]?.string)
            #expect(row.shape == expected?["shape"]?.array?.compactMap(\.integer))
        }
        for member in schema["metadata"]?.object?.members ?? [] {
            #expect(found.metadata[member.key.string] == member.value.string)
        }
        #expect(found.interface.isDeclared)
        #expect(found.interface.tensors?.count == 6)
        #expect(try Interface(json: found.interface.json) == found.interface)
    }

    @Test("names of a safetensors file may have so many bytes, and the first beyond them is refused")
    func names() throws {
        let path = "safetensors/tiny.safetensors"
        let bytes = try Fixtures.bytes(path)
        let names = try Fixtures.inspect(path).tensors.map(\.name.description)
        let length = UInt64(names.joined().utf8.count)
        func read(_ most: UInt64) throws -> Inspection {
            var limits = FormatLimits()
            limits.tensorNames = most
            return try ModelFile.inspect(source: MemorySource(bytes), name: path, limits: limits)
        }
        #expect(try read(length).tensors.count == names.count)
        let error = #expect(throws: FormatError.self) { try read(length - 1) }
        guard case .limit(_, let which, let offset, let found, let limit) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(which == "bytes of tensor names" && offset > 8 && found == length && limit == length - 1)
    }

    @Test("the tensors and metadata of a GGUF file are those that the library sees")
    func gguf() throws {
        let found = try Fixtures.inspect("gguf/tiny_llama.gguf")
        let schema = try Fixtures.schema("gguf/tiny_llama.gguf.expected.json")
        let tensors = schema["tensors"]?.array ?? []
        #expect(found.format == .gguf)
        #expect(found.requires.specificationVersion == schema["version"]?.integer)
        #expect(found.tensors.map(\.name.description) == tensors.compactMap { $0["name"]?.string })
        #expect(found.tensors.map(\.type) == tensors.compactMap { $0["type"]?.string })
        #expect(found.tensors.map(\.shape) == tensors.map { $0["ne"]?.array?.compactMap(\.integer) ?? [] })
        for key in ["author", "license", "name", "version"] {
            #expect(found.metadata["general.\(key)"] == schema["metadata"]?[key]?.string)
        }
        #expect(found.metadata["general.architecture"] == schema["architecture"]?.string)
        #expect(found.metadata["general.alignment"] == "64")
        #expect(found.metadata["fixture.i8"] == "-3")
        #expect(found.metadata["fixture.u64"] == "9223372036854775808")
        #expect(found.metadata["fixture.f64"] == "2.5")
        #expect(found.metadata["tokenizer.ggml.tokens"] == "[5 × string]")
        #expect(found.interface.isDeclared)
        #expect(try Interface(json: found.interface.json) == found.interface)
    }

    @Test(
        "what an app relies on in a GGUF file is read: architecture, context, embedding, vocabulary, first and last token"
    )
    func network() throws {
        let written = try Fixtures.inspect("gguf/tiny_llama.gguf")
        let schema = try Fixtures.schema("gguf/tiny_llama.gguf.expected.json")
        #expect(written.interface.network?.architecture?.description == schema["architecture"]?.string)
        #expect(written.interface.network?.vocabularySize == 5)
        var writer = GGUFWriter()
        func number(_ key: String, _ value: UInt32) -> [UInt8] {
            GGUFWriter.pair(key, 4, GGUFWriter.number(value))
        }
        writer.pairs = [
            number("llama.vocab_size", 32_000), number("llama.context_length", 4_096),
            number("llama.embedding_length", 2_048), number("gemma.context_length", 1),
            number("tokenizer.ggml.bos_token_id", 1), number("tokenizer.ggml.eos_token_id", 2),
        ]
        let found = try ModelFile.inspect(source: MemorySource(writer.bytes), name: "x.gguf").interface
        let said =
            #"{"architecture":"llama","begin_token":1,"context_length":4096,"embedding_length":2048,"#
            + #""end_token":2,"vocabulary_size":32000}"#
        #expect(found.network.flatMap(\.json.canonicalText) == said)
        #expect(try Interface(json: found.json) == found)
    }

    @Test("what decides the meaning of tokens is digested, and a chat template is nowhere else")
    func tokenizers() throws {
        let found = try Fixtures.inspect("gguf/tiny_llama.gguf")
        let names = [
            "tokenizer.chat_template", "tokenizer.ggml.model", "tokenizer.ggml.scores",
            "tokenizer.ggml.tokens",
        ]
        #expect(found.interface.tokenizers.map(\.name.description) == names)
        #expect(found.metadata["tokenizer.chat_template"] == nil)
        var bytes = try Fixtures.bytes("gguf/tiny_llama.gguf")
        let token = try #require(bytes.firstRange(of: Array("</s>".utf8)))
        bytes[token.lowerBound] = UInt8(ascii: "[")
        let other = try ModelFile.inspect(source: MemorySource(bytes), name: "x.gguf")
        let differing = zip(found.interface.tokenizers, other.interface.tokenizers).filter { $0 != $1 }
        #expect(differing.map(\.0.name.description) == ["tokenizer.ggml.tokens"])
    }

    @Test("the digest of a table of tensors does not follow their order, and follows names, types and shapes")
    func summary() throws {
        let rows = try Fixtures.inspect("safetensors/tiny.safetensors").tensors
        #expect(rows.summary == Array(rows.reversed()).summary)
        #expect(rows.summary != Array(rows.dropLast()).summary)
    }
}

@Suite("Models in several files")
struct ModelSetTests {
    private func refusal(
        _ folder: String,
        _ edit: (inout [String: [UInt8]]) -> Void
    ) throws -> String? {
        var files = try Fixtures.contents(folder, inside: "set")
        edit(&files)
        do { _ = try ModelFile.inspect(Fixtures.variant(files)) } catch { return "\(error)" }
        return nil
    }

    private static func part(_ number: Int) -> String { "set-0000\(number)-of-00003.gguf" }

    @Test("a GGUF set is one model, entered by its first part")
    func gguf() throws {
        let found = try ModelFile.inspect(Fixtures.variant("gguf", inside: "set"), declared: .gguf)
        #expect(found.entry.description == Self.part(1))
        #expect(found.inspection.tensors.map(\.name.description).count == 3)
        #expect(found.inspection.interface.tensors?.count == 3)
        #expect(found.inspection.metadata.graphName == "set")
    }

    @Test("a GGUF set that lacks a part, has one twice or has one of another set is refused")
    func ggufParts() throws {
        for number in 1...3 {
            let lacking = try refusal("gguf") { $0[Self.part(number)] = nil }
            #expect(lacking?.contains("needs \(Self.part(number)), which is not") == true)
        }
        let twice = try refusal("gguf") { $0[Self.part(3)] = $0[Self.part(2)] }
        #expect(twice?.contains("does not fit the other files") == true)
        let announced = GGUFWriter.pair("split.tensors.count", 5, GGUFWriter.number(Int32(3)))
        let changed = try refusal("gguf") { files in
            guard let place = files[Self.part(2)]?.firstRange(of: announced) else { return }
            files[Self.part(2)]?[place.upperBound - 4] = 4
        }
        #expect(changed?.contains("announces 4 tensors, and the first part 3 tensors") == true)
        func renamed(_ part: Int, _ old: String, _ new: String) throws -> String? {
            try refusal("gguf") { files in
                guard let place = files[Self.part(part)]?.firstRange(of: Array(old.utf8)) else { return }
                files[Self.part(part)]?.replaceSubrange(place, with: Array(new.utf8))
            }
        }
        let gemma = try renamed(2, "llama", "gemma")
        #expect(gemma?.contains("its architecture is not that of the first part") == true, "\(gemma ?? "")")
        let vocabulary = try refusal("gguf") { files in
            // In place of another pair of the same length, so that count and extents stay.
            let model = GGUFWriter.pair("tokenizer.ggml.model", 8, GGUFWriter.text("berts"))
            let old = GGUFWriter.pair("general.architecture", 8, GGUFWriter.text("llama"))
            guard let place = files[Self.part(3)]?.firstRange(of: old) else { return }
            files[Self.part(3)]?.replaceSubrange(place, with: model)
        }
        #expect(vocabulary?.contains("`tokenizer.ggml.model` is not that of the first part") == true)
        let fourth = try refusal("gguf") { $0["set-00004-of-00003.gguf"] = $0[Self.part(3)] }
        #expect(fourth?.contains("set-00004-of-00003.gguf belongs to no part") == true)
        let other = try refusal("gguf") { $0["set-00001-of-00002.gguf"] = $0[Self.part(1)] }
        #expect(other?.contains("2 models") == true)
        let alone = try refusal("gguf") { $0 = ["model.gguf": $0[Self.part(2)] ?? []] }
        #expect(alone?.contains("the whole set of 3 files") == true)
    }

    private static let index = "set/model.safetensors.index.json"

    @Test("safetensors files with an index are one model, entered by the first of them")
    func safetensors() throws {
        let found = try ModelFile.inspect(Fixtures.variant("safetensors", inside: "set"))
        #expect(found.entry.description == "set/model-00001-of-00002.safetensors")
        #expect(found.inspection.format == .safetensors)
        #expect(found.inspection.interface.tensors?.count == 3)
    }

    @Test("a part of a set does not pass for the whole: what is missing is named, the index too")
    func safetensorsPart() throws {
        let one = "set/model-00001-of-00002.safetensors"
        let other = "set/model-00002-of-00002.safetensors"
        let alone = try refusal("safetensors") { $0 = [one: $0[one] ?? []] }
        #expect(alone?.contains("needs \(other) (with the index \(Self.index))") == true, "\(alone ?? "")")
        let beside = try refusal("safetensors") { $0 = [other: $0[other] ?? [], "README.md": [1]] }
        #expect(beside?.contains("needs \(one) (with the index") == true, "\(beside ?? "")")
        let whole = try refusal("safetensors") { $0[Self.index] = nil }
        #expect(whole?.contains("needs \(Self.index), which is not among") == true, "\(whole ?? "")")
        let five = try refusal("safetensors") { $0 = ["m-00002-of-00005.safetensors": $0[one] ?? []] }
        #expect(five?.contains("needs m-00001-of-00005.safetensors (with 3 more parts") == true)
        #expect(try refusal("safetensors") { $0 = ["model.safetensors": $0[one] ?? []] } == nil)
        #expect(try refusal("safetensors") { $0 = ["m-00001-of-00001.safetensors": $0[one] ?? []] } == nil)
    }

    @Test("an index and files that say different things are refused")
    func safetensorsParts() throws {
        func edited(_ old: String, _ new: String) throws -> String? {
            try refusal("safetensors") { files in
                let text = String(decoding: files[Self.index] ?? [], as: UTF8.self)
                files[Self.index] = Array(text.replacing(old, with: new).utf8)
            }
        }
        let lacking = try refusal("safetensors") { $0["set/model-00002-of-00002.safetensors"] = nil }
        #expect(lacking?.contains("which is not among the files") == true)
        let stray = try refusal("safetensors") {
            $0["set/other.safetensors"] = $0["set/model-00001-of-00002.safetensors"]
        }
        #expect(stray?.contains("belongs to no part") == true)
        func beside(_ text: String) throws -> String? {
            try edited("\"weight_map\"", text + ", \"weight_map\"")
        }
        for text in ["0", "-0.5e+3", "[true, null]", "{\"a\": 1, \"b\": {\"a\": 1}}", "[]", "\"1\""] {
            #expect(try beside("\"x\": \(text)") == nil, "\(text)")
        }
        for text in ["tru", "[tru]", "nulll", "01", "+1", "1.", ".5", "1e", "-", "1-2", "[1 2]", "NaN"] {
            let said = try beside("\"x\": \(text)")
            #expect(said?.contains("a byte that cannot stand there") == true, "\(text): \(said ?? "")")
        }
        let twice = [
            "\"x\": 1, \"x\": 2", "\"x\": {\"y\": 1, \"y\": 2}", "\"x\": [{\"\": 1, \"\": 1}]",
        ]
        for text in twice {
            #expect(try beside(text)?.contains("it stands twice") == true, "\(text)")
        }
        #expect(try edited("\"a\"", "\"z\"")?.contains("the index has tensor `a` elsewhere") == true)
        #expect(try edited("\"c\":", "\"b\":")?.contains("stands twice") == true)
        #expect(try edited("model-00001", "../model-00001")?.contains("weight_map") == true)
        #expect(try edited("weight_map", "weights")?.contains("it is missing") == true)
        #expect(
            try edited("\"a\":", "\"d\": \"model-00001-of-00002.safetensors\", \"a\":")?.contains("4 tensors")
                == true
        )
    }
}
