import CanonicalJSON

/// Reads the JSON of tensors from bytes of unknown origin, strictly and within bounds.
///
/// Lists nest at most 32 deep and must be rectangular. Numbers stay where they
/// stand in the text until their type is known, so that integers are exact.
struct TensorScanner {
    let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The whole document, names in the order of writing.
    mutating func document() throws(InferenceError) -> [WrittenTensor] {
        var tensors: [WrittenTensor] = []
        // By their bytes: equal texts may be different names.
        var names: Set<[UInt8]> = []
        passSpace()
        try members { (scanner, name, offset) throws(InferenceError) in
            guard names.insert(Array(name.utf8)).inserted else {
                throw .text(reason: "the input '\(name)' stands twice", offset: offset)
            }
            tensors.append(try scanner.tensor(named: name, offset: offset))
        }
        try end()
        return tensors
    }

    /// Refuses anything but space from here on.
    mutating func end() throws(InferenceError) {
        passSpace()
        guard index == bytes.count else { throw wrong("something after the end") }
    }

    mutating func tensor(named name: String, offset: Int) throws(InferenceError) -> WrittenTensor {
        var tensor = WrittenTensor(name: name, offset: offset)
        guard current == UInt8(ascii: "{") else {
            tensor.data = try data()
            return tensor
        }
        var seen: Set<String> = []
        try members { (scanner, key, offset) throws(InferenceError) in
            guard seen.insert(key).inserted else {
                throw .text(reason: "'\(key)' stands twice", offset: offset)
            }
            switch key {
            case "type":
                let text = try scanner.text()
                guard let element = Tensor.Element(rawValue: text) else {
                    throw .text(reason: "the type '\(text)' is unknown", offset: offset)
                }
                tensor.element = element
            case "shape": tensor.shape = try scanner.shape()
            case "data": tensor.data = try scanner.data()
            default: throw .text(reason: "'\(key)' is neither type, shape nor data", offset: offset)
            }
        }
        guard seen.contains("data") else { throw .text(reason: "'\(name)' has no data", offset: offset) }
        return tensor
    }

    private mutating func shape() throws(InferenceError) -> [Int] {
        let start = index
        let list = try data()
        guard list.shape.count == 1, list.leaves.count <= 32 else {
            throw .text(reason: "a shape is a list of at most 32 lengths", offset: start)
        }
        var shape: [Int] = []
        for leaf in list.leaves {
            guard case .number(let range) = leaf, let length = Int(text(range)), length >= 0 else {
                throw .text(reason: "a shape is a list of whole numbers", offset: start)
            }
            shape.append(length)
        }
        return shape
    }

    private mutating func data() throws(InferenceError) -> WrittenData {
        var data = WrittenData()
        try value(into: &data, depth: 0)
        return data
    }

    private mutating func value(into data: inout WrittenData, depth: Int) throws(InferenceError) {
        guard let first = current else { throw wrong("it ends early") }
        guard first == UInt8(ascii: "[") else {
            guard data.depth == nil || data.depth == depth else { throw wrong("lists of different depths") }
            data.depth = depth
            data.leaves.append(try leaf(first))
            return
        }
        guard depth < 32 else { throw wrong("lists nest deeper than 32") }
        let start = index
        var count = 0
        index += 1
        passSpace()
        while current != UInt8(ascii: "]") {
            if count > 0 { try expect(",") }
            passSpace()
            try value(into: &data, depth: depth + 1)
            passSpace()
            count += 1
        }
        index += 1
        guard data.close(list: count, depth: depth) else {
            throw .text(reason: "lists of different lengths or depths", offset: start)
        }
    }

    private mutating func leaf(_ first: UInt8) throws(InferenceError) -> WrittenData.Leaf {
        switch first {
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"):
            try expect("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try expect("false")
            return .bool(false)
        case UInt8(ascii: "-"), 0x30...0x39: return .number(try number())
        default: throw wrong("neither a list, a number, a text nor a bool")
        }
    }

    /// The range of a number as RFC 8259, 6 has it.
    mutating func number() throws(InferenceError) -> Range<Int> {
        let start = index
        if current == UInt8(ascii: "-") { index += 1 }
        let isZero = current == UInt8(ascii: "0")
        let whole = try digits()
        guard !isZero || whole == 1 else { throw wrong("a number with a leading zero") }
        if current == UInt8(ascii: ".") {
            index += 1
            _ = try digits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            index += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { index += 1 }
            _ = try digits()
        }
        guard index - start <= 1_024 else { throw wrong("a number of more than 1,024 characters") }
        return start..<index
    }

    private mutating func digits() throws(InferenceError) -> Int {
        let start = index
        while let byte = current, (0x30...0x39).contains(byte) { index += 1 }
        guard index > start else { throw wrong("a number without digits") }
        return index - start
    }

    /// A text with its quotes, read by the strict parser of signed documents.
    mutating func text() throws(InferenceError) -> String {
        let start = index
        guard current == UInt8(ascii: "\"") else { throw wrong("a text is missing") }
        index += 1
        while let byte = current, byte != UInt8(ascii: "\"") { index += byte == UInt8(ascii: "\\") ? 2 : 1 }
        guard index < bytes.count else { throw .text(reason: "it ends early", offset: bytes.count) }
        index += 1
        do {
            let value = try JSONParser.parse(Array(bytes[start..<index]), maximumLength: bytes.count)
            return value.string ?? ""
        } catch {
            throw .text(reason: error.what, offset: start + error.offset)
        }
    }

    /// The members of an object, each lent to `body` when its value begins.
    mutating func members(
        _ body: (inout TensorScanner, String, Int) throws(InferenceError) -> Void
    ) throws(InferenceError) {
        try expect("{")
        passSpace()
        var isFirst = true
        while current != UInt8(ascii: "}") {
            if !isFirst { try expect(",") }
            isFirst = false
            passSpace()
            let offset = index
            let name = try text()
            passSpace()
            try expect(":")
            passSpace()
            try body(&self, name, offset)
            passSpace()
        }
        index += 1
    }

    /// The elements of a list, each lent to `body` when it begins.
    mutating func elements(
        _ body: (inout TensorScanner) throws(InferenceError) -> Void
    ) throws(InferenceError) {
        try expect("[")
        passSpace()
        var isFirst = true
        while current != UInt8(ascii: "]") {
            if !isFirst { try expect(",") }
            isFirst = false
            passSpace()
            try body(&self)
            passSpace()
        }
        index += 1
    }

    var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    func wrong(_ reason: String) -> InferenceError {
        .text(reason: index < bytes.count ? reason : "it ends early", offset: index)
    }

    mutating func expect(_ word: StaticString) throws(InferenceError) {
        for byte in word.description.utf8 {
            guard current == byte else { throw wrong("'\(word)' is missing") }
            index += 1
        }
    }

    mutating func passSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }
}
