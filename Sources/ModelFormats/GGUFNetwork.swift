import Manifest

/// What the pairs of metadata say about the network, as they are met.
struct GGUFNetwork {
    var architecture: FeatureName?

    /// By key, of `llama.context_length` and its like: type and place of the value.
    ///
    /// Any file may have such keys of other networks, with other meanings and
    /// types; which count, the architecture decides when all are read.
    var values: [String: (type: UInt32, place: UInt64)] = [:]

    /// How many tokens the tokenizer has.
    var tokens: Int64?

    private static let suffixes = [".context_length", ".embedding_length", ".vocab_size"]

    /// Whether a key is one that may be a number of the network.
    static func isNumber(_ key: String) -> Bool {
        key == "tokenizer.ggml.bos_token_id" || key == "tokenizer.ggml.eos_token_id"
            || suffixes.contains { key.hasSuffix($0) }
    }
}

extension GGUFReader {
    mutating func noteArchitecture(_ type: UInt32, at place: UInt64) throws(FormatError) {
        let field = "`general.architecture`"
        guard type == 8 else { throw file.malformed(field, place, .wrongWireType) }
        let count = try file.number(UInt64.self, at: place, field)
        let text = try file.text(at: place + 8, count: count, limit: 1_024, field)
        guard let name = FeatureName(text) else { throw file.malformed(field, place, .badName) }
        network.architecture = name
    }

    /// A number that a network is told by, in the range that a manifest takes; `nil` where none is said.
    private func fact(_ key: String) throws(FormatError) -> Int64? {
        guard let (type, place) = network.values[key] else { return nil }
        let number = try whole(key, type, at: place)
        guard number <= 1 << 40 else { throw file.malformed("`\(key)`", place, .outOfRange) }
        return Int64(number)
    }

    /// Of the array of tokens: its type and count stand before its elements.
    func tokenCount(_ type: UInt32, at place: UInt64) throws(FormatError) -> Int64 {
        let key = "tokenizer.ggml.tokens"
        guard type == 9 else { throw file.malformed("`\(key)`", place, .wrongWireType) }
        return Int64(clamping: try file.number(UInt64.self, at: place + 4, key))
    }

    /// Of a whole model or the first file of a set; the others say only their place in it.
    ///
    /// - Throws: `FormatError.malformed` when no architecture is said: no runtime could load the file.
    func networkFacts() throws(FormatError) -> NetworkFacts? {
        guard let architecture = network.architecture else {
            guard !split.isWhole, split.number > 0 else {
                throw file.malformed("`general.architecture`", position, .missing)
            }
            return nil
        }
        var facts = NetworkFacts(architecture: architecture)
        facts.contextLength = try fact("\(architecture).context_length")
        facts.embeddingLength = try fact("\(architecture).embedding_length")
        facts.vocabularySize = try fact("\(architecture).vocab_size") ?? network.tokens
        facts.beginToken = try fact("tokenizer.ggml.bos_token_id")
        facts.endToken = try fact("tokenizer.ggml.eos_token_id")
        return facts
    }
}
