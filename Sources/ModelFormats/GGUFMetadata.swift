import Manifest
import Names
import Signing

/// Pairs of metadata.
extension GGUFReader {
    mutating func readPair() throws(FormatError) {
        let place = position
        try file.spendField(at: place)
        let key = try takeText("key", limit: 65_535)
        guard !key.isEmpty, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw file.malformed("key", place, .badName)
        }
        guard keys.insert(key).inserted else { throw file.malformed("`\(key)`", place, .duplicate) }
        let typePlace = position
        let type: UInt32 = try take("type of `\(key)`")
        let valuePlace = position
        let shown = try readValue(key, type, typePlace)
        try note(key, type, at: valuePlace)
        metadataBytes += UInt64(key.utf8.count + (shown?.utf8.count ?? 0))
        try file.limits.check(
            pairs: keys.count,
            of: file.limits.pairsOfGGUF,
            bytes: metadataBytes,
            .gguf,
            at: place
        )
        if let shown { metadata.properties.append(ModelMetadata.Property(key: key, value: shown)) }
    }

    /// Steps over a value.
    ///
    /// - Returns: It as text; of an array, how many of what; of a long text, how many bytes; `nil` for what is
    ///   shown nowhere.
    private mutating func readValue(
        _ key: String,
        _ type: UInt32,
        _ place: UInt64
    ) throws(FormatError) -> String? {
        switch type {
        case 8: return try readText(key)
        case 9: return try skipArray(key)
        default: return try readScalar("`\(key)`", type, place)
        }
    }

    /// A chat template is a program, which is digested and shown nowhere; it may be long, as may other texts.
    private mutating func readText(_ key: String) throws(FormatError) -> String? {
        let isTemplate = key.hasPrefix("tokenizer.chat_template")
        let count = try file.number(UInt64.self, at: position, "`\(key)`")
        guard isTemplate || count > file.limits.metadataValue else {
            return try takeText("`\(key)`", limit: file.limits.metadataValue)
        }
        let field = "`\(key)`"
        guard count <= file.length - position - 8 else { throw file.malformed(field, position, .endsEarly) }
        guard count <= file.limits.textOfGGUF else {
            throw file.limit("bytes of \(field)", position, found: count, limit: file.limits.textOfGGUF)
        }
        position += 8 + count
        return isTemplate ? nil : "[\(count) bytes]"
    }

    private mutating func readScalar(
        _ field: String,
        _ type: UInt32,
        _ place: UInt64
    ) throws(FormatError) -> String {
        switch type {
        case 0: return String(try take(field) as UInt8)
        case 1: return String(try take(field) as Int8)
        case 2: return String(try take(field) as UInt16)
        case 3: return String(try take(field) as Int16)
        case 4: return String(try take(field) as UInt32)
        case 5: return String(try take(field) as Int32)
        case 6: return "\(Float(bitPattern: try take(field)))"
        case 7:
            let byte: UInt8 = try take(field)
            guard byte <= 1 else { throw file.malformed(field, position - 1, .outOfRange) }
            return byte == 1 ? "true" : "false"
        case 10: return String(try take(field) as UInt64)
        case 11: return String(try take(field) as Int64)
        case 12: return "\(Double(bitPattern: try take(field)))"
        default: throw file.malformed("type of \(field)", place, .unknownValueType(UInt64(type)))
        }
    }

    /// Names and widths of the types of numbers, by their numbers.
    private static let widths: [UInt32: (name: String, width: UInt64)] = [
        0: ("u8", 1), 1: ("i8", 1), 2: ("u16", 2), 3: ("i16", 2), 4: ("u32", 4), 5: ("i32", 4), 6: ("f32", 4),
        7: ("bool", 1), 10: ("u64", 8), 11: ("i64", 8), 12: ("f64", 8),
    ]

    private mutating func skipArray(_ key: String) throws(FormatError) -> String {
        let place = position
        let field = "`\(key)`"
        let type: UInt32 = try take("type of \(field)")
        guard type != 9 else { throw file.malformed(field, place, .nestedArray) }
        let countPlace = position
        let count: UInt64 = try take("count of \(field)")
        let left = file.length - position
        if let (name, width) = Self.widths[type] {
            guard count <= 1 << 28 else {
                throw file.limit("elements of \(field)", countPlace, found: count, limit: 1 << 28)
            }
            guard count * width <= left else { throw file.malformed(field, countPlace, .endsEarly) }
            if type == 7 { try checkBools(field, count) }
            position += count * width
            return "[\(count) × \(name)]"
        }
        guard type == 8 else {
            throw file.malformed("type of \(field)", place, .unknownValueType(UInt64(type)))
        }
        guard count <= 1 << 24 else {
            throw file.limit("elements of \(field)", countPlace, found: count, limit: 1 << 24)
        }
        guard count * 8 <= left else { throw file.malformed(field, countPlace, .endsEarly) }
        for _ in 0..<count {
            let start = position
            let length: UInt64 = try take(field)
            guard length <= file.length - position else { throw file.malformed(field, start, .endsEarly) }
            position += length
        }
        return "[\(count) × string]"
    }

    private func checkBools(_ field: String, _ count: UInt64) throws(FormatError) {
        let limit = file.limits.metadataTotal
        let bytes = try file.bytes(at: position, count: count, limit: limit, field)
        guard let wrong = bytes.firstIndex(where: { $0 > 1 }) else { return }
        throw file.malformed(field, position + UInt64(wrong), .outOfRange)
    }

    /// Keeps what decides something: alignment, the place in a set, tokenizers.
    private mutating func note(_ key: String, _ type: UInt32, at place: UInt64) throws(FormatError) {
        switch key {
        case "general.alignment":
            guard type == 4 else { throw file.malformed("`\(key)`", place, .wrongWireType) }
            let value = UInt64(try file.number(UInt32.self, at: place, key))
            guard value.nonzeroBitCount == 1, (8...65_536).contains(value) else {
                throw file.malformed("`\(key)`", place, .outOfRange)
            }
            alignment = value
        case "split.no": split.number = try whole(key, type, at: place)
        case "split.count": split.count = try whole(key, type, at: place)
        case "split.tensors.count": split.tensors = try whole(key, type, at: place)
        case "general.architecture": try noteArchitecture(type, at: place)
        case _ where GGUFNetwork.isNumber(key): network.values[key] = (type, place)
        default:
            if key == "tokenizer.ggml.tokens" { network.tokens = try tokenCount(type, at: place) }
            guard key.hasPrefix("tokenizer."), type == 8 || type == 9, let name = FeatureName(key) else {
                return
            }
            guard tokenizers.count < file.limits.tokenizers else {
                let limit = UInt64(file.limits.tokenizers)
                throw file.limit("pairs about its tokenizer", place, found: limit + 1, limit: limit)
            }
            tokenizers.append(TokenizerDigest(name: name, sha256: try digest(place..<position, key)))
        }
    }

    /// A whole number from 0 up, of any width.
    func whole(_ key: String, _ type: UInt32, at place: UInt64) throws(FormatError) -> UInt64 {
        let number: UInt64? =
            switch type {
            case 0: UInt64(try file.number(UInt8.self, at: place, key))
            case 1: UInt64(exactly: try file.number(Int8.self, at: place, key))
            case 2: UInt64(try file.number(UInt16.self, at: place, key))
            case 3: UInt64(exactly: try file.number(Int16.self, at: place, key))
            case 4: UInt64(try file.number(UInt32.self, at: place, key))
            case 5: UInt64(exactly: try file.number(Int32.self, at: place, key))
            case 10: try file.number(UInt64.self, at: place, key)
            case 11: UInt64(exactly: try file.number(Int64.self, at: place, key))
            default: throw file.malformed("`\(key)`", place, .wrongWireType)
            }
        guard let number else { throw file.malformed("`\(key)`", place, .outOfRange) }
        return number
    }

    /// Of the value as it stands in the file, type and counts included.
    private func digest(_ range: Range<UInt64>, _ key: String) throws(FormatError) -> Digest {
        try file.spend(bytes: range.upperBound - range.lowerBound, at: range.lowerBound)
        var digest = DigestStream()
        var start = range.lowerBound
        while start < range.upperBound {
            let count = min(65_536, range.upperBound - start)
            digest.update(try file.read(start, Int(count)))
            start += count
        }
        return digest.finish()
    }
}
