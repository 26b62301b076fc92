/// Reads JSON (RFC 8259) from bytes of unknown origin, and takes nothing that two readers could read differently.
///
/// Refused: duplicate keys (also through escapes), fractions and exponents,
/// invalid UTF-8, lone surrogates, raw control characters, a byte-order mark,
/// depth or length beyond the limit, anything after the value. There is no
/// recursion past the depth limit, and no memory is taken by a count that the
/// bytes announce. One pass checks all of it, finds where each value stands,
/// and sees which values are in canonical form already.
package struct JSONParser {
    let bytes: [UInt8]
    private let maximumDepth: Int
    private var nodes: [JSONTree.Node] = []
    private var orders = JSONKeyOrders()
    var index = 0

    /// Parses one whole document.
    ///
    /// - Parameters:
    ///   - bytes: The document, nothing before or after but white space.
    ///   - maximumLength: In bytes, less than 1 GiB; checked first.
    ///   - maximumDepth: Of nested arrays and objects.
    /// - Returns: The value; objects give their members sorted by key.
    /// - Throws: `JSONError`, with the offset of the byte that is wrong.
    package static func parse(
        _ bytes: [UInt8],
        maximumLength: Int,
        maximumDepth: Int = 32
    ) throws(JSONError) -> JSONValue {
        let limit = min(maximumLength, JSONTree.Node.greatestCount - 1)
        guard bytes.count <= limit else {
            throw JSONError(reason: .tooLong(found: bytes.count, limit: limit), offset: 0)
        }
        var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth)
        parser.passSpace()
        _ = try parser.value(depth: 0)
        parser.passSpace()
        guard parser.index == bytes.count else { throw parser.error(.trailingBytes) }
        parser.orders.close()
        return JSONTree(bytes: bytes, nodes: parser.nodes, orders: parser.orders).value(of: 0)
    }

    private init(bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        // All that there can be, of two bytes each, so that nothing is copied to grow; pages that are not used
        // cost nothing.
        nodes.reserveCapacity(bytes.count / 2 + 16)
    }

    func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason: reason, offset: index) }

    var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// - Returns: Whether there was any.
    @discardableResult
    private mutating func passSpace() -> Bool {
        let end = endOfSpace
        defer { index = end }
        return end > index
    }

    private var endOfSpace: Int {
        let span = bytes.span
        var next = index
        while next < span.count {
            let byte = span[next]
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
            next += 1
        }
        return next
    }

    /// Begins a node at the current byte; ``end(_:_:)`` completes it.
    private mutating func begin() -> Int {
        nodes.append(JSONTree.Node(start: UInt32(index), end: 0, link: 0))
        return nodes.count - 1
    }

    private mutating func end(_ node: Int, canonical: Bool, special: Bool = false) {
        nodes[node].end = UInt32(index)
        var link = UInt32(nodes.count)
        if canonical { link |= JSONTree.Node.canonical }
        if special { link |= JSONTree.Node.special }
        nodes[node].link = link
    }

    /// - Returns: Whether the bytes are canonical as they stand.
    private mutating func value(depth: Int) throws(JSONError) -> Bool {
        guard let first = current else { throw error(.endsEarly) }
        switch first {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return try string().isCanonical
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        case UInt8(ascii: "-"), 0x30...0x39:
            let node = begin()
            try number()
            end(node, canonical: true)
        default: throw error(.unexpectedByte)
        }
        return true
    }

    private mutating func string() throws(JSONError) -> (isCanonical: Bool, hasEscape: Bool) {
        let node = begin()
        let (isCanonical, hasEscape) = try text()
        end(node, canonical: isCanonical, special: hasEscape)
        return (isCanonical, hasEscape)
    }

    private mutating func literal(_ word: StaticString) throws(JSONError) {
        let node = begin()
        for expected in word.description.utf8 {
            guard let byte = current else { throw error(.endsEarly) }
            guard byte == expected else { throw error(.unexpectedByte) }
            index += 1
        }
        end(node, canonical: true)
    }

    private mutating func object(depth: Int) throws(JSONError) -> Bool {
        guard depth <= maximumDepth else { throw error(.tooDeep(limit: maximumDepth)) }
        let node = begin()
        index += 1
        var isCanonical = !passSpace()
        guard current != UInt8(ascii: "}") else {
            index += 1
            end(node, canonical: isCanonical)
            return isCanonical
        }
        var isSorted = true
        var previous: Int?
        while true {
            guard current == UInt8(ascii: "\"") else {
                throw error(current == nil ? .endsEarly : .unexpectedByte)
            }
            let key = nodes.count
            if try !string().isCanonical { isCanonical = false }
            if isSorted, let previous { isSorted = precedes(previous, key) }
            previous = key
            if passSpace() { isCanonical = false }
            guard current == UInt8(ascii: ":") else {
                throw error(current == nil ? .endsEarly : .unexpectedByte)
            }
            index += 1
            if passSpace() { isCanonical = false }
            if try !value(depth: depth) { isCanonical = false }
            if passSpace() { isCanonical = false }
            switch current {
            case UInt8(ascii: ","):
                index += 1
                if passSpace() { isCanonical = false }
            case UInt8(ascii: "}"):
                index += 1
                isCanonical = isCanonical && isSorted
                end(node, canonical: isCanonical, special: !isSorted)
                if !isSorted { try order(node) }
                return isCanonical
            case nil: throw error(.endsEarly)
            default: throw error(.unexpectedByte)
            }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> Bool {
        guard depth <= maximumDepth else { throw error(.tooDeep(limit: maximumDepth)) }
        let node = begin()
        index += 1
        var isCanonical = !passSpace()
        guard current != UInt8(ascii: "]") else {
            index += 1
            end(node, canonical: isCanonical)
            return isCanonical
        }
        while true {
            if try !value(depth: depth) { isCanonical = false }
            if passSpace() { isCanonical = false }
            switch current {
            case UInt8(ascii: ","):
                index += 1
                if passSpace() { isCanonical = false }
            case UInt8(ascii: "]"):
                index += 1
                end(node, canonical: isCanonical)
                return isCanonical
            case nil: throw error(.endsEarly)
            default: throw error(.unexpectedByte)
            }
        }
    }
}

// MARK: the order of keys

extension JSONParser {
    /// Whether one key comes before another, as code points and so as bytes.
    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (nodes[left], nodes[right])
        let span = bytes.span
        var (here, there) = (Int(first.start) + 1, Int(second.start) + 1)
        let (hereEnd, thereEnd) = (Int(first.end) - 1, Int(second.end) - 1)
        guard !first.isSpecial, !second.isSpecial else {
            let mine = JSONEscape.Undone(bytes[here..<hereEnd])
            return mine.lexicographicallyPrecedes(JSONEscape.Undone(bytes[there..<thereEnd]))
        }
        while here < hereEnd, there < thereEnd {
            let (mine, yours) = (span[here], span[there])
            if mine != yours { return mine < yours }
            here += 1
            there += 1
        }
        return here == hereEnd && there < thereEnd
    }

    /// The text of a key.
    private func text(_ node: Int) -> [UInt8] {
        let inner = bytes[Int(nodes[node].start) + 1..<Int(nodes[node].end) - 1]
        return nodes[node].isSpecial ? Array(JSONEscape.Undone(inner)) : Array(inner)
    }

    /// The names and numbers that lead to a key.
    private func place(of target: Int) -> String {
        var place = ""
        var container = 0
        while true {
            let isObject = bytes[Int(nodes[container].start)] == UInt8(ascii: "{")
            var child = container + 1
            var number = 0
            while child != target {
                let value = isObject ? child + 1 : child
                guard value < nodes.count else { return place }
                // What is still open has no end yet, and everything behind it is in it.
                guard nodes[value].next > 0, nodes[value].next <= target else { break }
                child = nodes[value].next
                number += 1
            }
            if isObject {
                place += (place.isEmpty ? "" : ".") + String(decoding: text(child).prefix(128), as: UTF8.self)
            } else {
                place += "[\(number)]"
            }
            guard child != target else { return place }
            container = isObject ? child + 1 : child
        }
    }

    /// Sorts the keys of an object that was not in order, and finds a key that stands twice.
    private mutating func order(_ object: Int) throws(JSONError) {
        var keys = JSONKeySort(object, of: nodes, in: bytes)
        if let second = keys.sort() {
            throw JSONError(
                reason: .duplicateKey,
                offset: Int(nodes[second].start),
                member: place(of: second)
            )
        }
        orders.add(keys.nodes, of: object)
    }
}
