/// A document that the parser has accepted: its bytes, and where each value stands in them.
///
/// Twelve bytes a value and no allocation for any, so that a role of a hundred
/// thousand targets costs little more than its file. Text and numbers are made
/// when somebody asks for them.
final class JSONTree: Sendable {
    /// Where one value stands, from its first byte to behind its last.
    ///
    /// A document's nodes are in the order of its bytes; an object's children
    /// are key and value in turn.
    struct Node {
        var start: UInt32
        var end: UInt32

        /// The number of the node behind this one's last child, and two marks.
        var link: UInt32

        static let canonical: UInt32 = 1 << 31
        static let special: UInt32 = 1 << 30

        /// Numbers below both marks.
        static let greatestCount = 1 << 30

        var next: Int { Int(link & ~(Self.canonical | Self.special)) }

        /// Whether the bytes are the value's OLPC canonical form as they stand.
        var isCanonical: Bool { link & Self.canonical != 0 }

        /// Text that holds an escape, or an object whose keys are not in order.
        var isSpecial: Bool { link & Self.special != 0 }
    }

    let bytes: [UInt8]
    let nodes: [Node]

    /// The keys of each object that is not in order, in order.
    let orders: [Int: [Int]]

    init(bytes: [UInt8], nodes: [Node], orders: [Int: [Int]]) {
        self.bytes = bytes
        self.nodes = nodes
        self.orders = orders
    }

    func source(of node: Int) -> ArraySlice<UInt8> {
        bytes[Int(nodes[node].start)..<Int(nodes[node].end)]
    }

    func value(of node: Int) -> JSONValue {
        switch bytes[Int(nodes[node].start)] {
        case UInt8(ascii: "{"): .object(JSONObject(self, node: node))
        case UInt8(ascii: "["): .array(elements(of: node))
        case UInt8(ascii: "\""): .string(text(of: node))
        case UInt8(ascii: "t"): .bool(true)
        case UInt8(ascii: "f"): .bool(false)
        case UInt8(ascii: "n"): .null
        default: JSONValue(digits: source(of: node))
        }
    }

    private func elements(of array: Int) -> [JSONValue] {
        var elements: [JSONValue] = []
        var node = array + 1
        while node < nodes[array].next {
            elements.append(value(of: node))
            node = nodes[node].next
        }
        return elements
    }

    /// The members' keys as nodes, in order; each member's value is the node behind.
    func keys(of object: Int) -> [Int] {
        if nodes[object].isSpecial, let ordered = orders[object] { return ordered }
        var keys: [Int] = []
        var cursor = firstKey(of: object)
        while let (key, next) = key(at: cursor, of: object) {
            keys.append(key)
            cursor = next
        }
        return keys
    }

    /// Where ``key(at:of:)`` begins.
    func firstKey(of object: Int) -> Int { nodes[object].isSpecial ? 0 : object + 1 }

    /// The key at a place in an object, and the place behind; `nil` at the end.
    ///
    /// A place is a node, or a number in the order of keys that were not in order.
    func key(at cursor: Int, of object: Int) -> (key: Int, next: Int)? {
        if nodes[object].isSpecial {
            guard let order = orders[object], cursor < order.count else { return nil }
            return (order[cursor], cursor + 1)
        }
        return cursor < nodes[object].next ? (cursor, nodes[cursor + 1].next) : nil
    }

    /// The value of the member `key`.
    func member(_ key: JSONText, of object: Int) -> Int? {
        let end = nodes[object].next
        var node = object + 1
        while node < end {
            if isText(node, key) { return node + 1 }
            node = nodes[node + 1].next
        }
        return nil
    }

    private func isText(_ node: Int, _ text: JSONText) -> Bool {
        let found = nodes[node]
        if found.isSpecial { return self.text(of: node) == text }
        return bytes[Int(found.start) + 1..<Int(found.end) - 1] == text.utf8
    }

    func text(of node: Int) -> JSONText {
        let inner = source(of: node).dropFirst().dropLast()
        return JSONText(validated: nodes[node].isSpecial ? JSONEscape.undone(inner)[...] : inner)
    }

    /// Appends the value in canonical or compact form.
    func write(_ node: Int, into output: inout [UInt8], escapingControls: Bool) {
        let own = nodes[node]
        guard !own.isCanonical else {
            // JSON has no raw control characters, so the two forms differ only where an escape stood.
            output += source(of: node)
            return
        }
        switch bytes[Int(own.start)] {
        case UInt8(ascii: "{"):
            output.append(UInt8(ascii: "{"))
            if let keys = orders[node] {
                for (index, key) in keys.enumerated() {
                    if index > 0 { output.append(UInt8(ascii: ",")) }
                    writeMember(key, into: &output, escapingControls: escapingControls)
                }
            } else {
                var key = node + 1
                while key < own.next {
                    if key > node + 1 { output.append(UInt8(ascii: ",")) }
                    writeMember(key, into: &output, escapingControls: escapingControls)
                    key = nodes[key + 1].next
                }
            }
            output.append(UInt8(ascii: "}"))
        case UInt8(ascii: "["):
            output.append(UInt8(ascii: "["))
            var element = node + 1
            while element < own.next {
                if element > node + 1 { output.append(UInt8(ascii: ",")) }
                write(element, into: &output, escapingControls: escapingControls)
                element = nodes[element].next
            }
            output.append(UInt8(ascii: "]"))
        default: value(of: node).writeScalar(into: &output, escapingControls: escapingControls)
        }
    }

    private func writeMember(_ key: Int, into output: inout [UInt8], escapingControls: Bool) {
        write(key, into: &output, escapingControls: escapingControls)
        output.append(UInt8(ascii: ":"))
        write(key + 1, into: &output, escapingControls: escapingControls)
    }
}
