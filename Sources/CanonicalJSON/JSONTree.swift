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

    private let orders: JSONKeyOrders

    init(bytes: [UInt8], nodes: [Node], orders: JSONKeyOrders) {
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
        elements.reserveCapacity(elementCount(of: array))
        var node = array + 1
        while node < nodes[array].next {
            elements.append(value(of: node))
            node = nodes[node].next
        }
        return elements
    }

    func isArray(_ node: Int) -> Bool { bytes[Int(nodes[node].start)] == UInt8(ascii: "[") }

    /// How many elements an array has.
    func elementCount(of array: Int) -> Int {
        var count = 0
        var node = array + 1
        while node < nodes[array].next {
            count += 1
            node = nodes[node].next
        }
        return count
    }

    /// The members' keys as nodes, in order; each member's value is the node behind.
    func keys(of object: Int) -> [Int] {
        var keys: [Int] = []
        var place = firstKey(of: object)
        while let current = place {
            let (key, next) = key(at: current, of: object)
            keys.append(key)
            place = next
        }
        return keys
    }

    /// Where ``key(at:of:)`` begins; `nil` for an object without members.
    func firstKey(of object: Int) -> Int? {
        if nodes[object].isSpecial { return orders.first(of: object) }
        return object + 1 < nodes[object].next ? object + 1 : nil
    }

    /// The key at a place in an object, and the place of the key behind it.
    ///
    /// A place is a node, or a number in the order of keys that were not in order.
    func key(at place: Int, of object: Int) -> (key: Int, next: Int?) {
        guard !nodes[object].isSpecial else { return orders.key(at: place) }
        let next = nodes[place + 1].next
        return (place, next < nodes[object].next ? next : nil)
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
        let inner = bytes[Int(found.start) + 1..<Int(found.end) - 1]
        return found.isSpecial ? JSONEscape.Undone(inner).elementsEqual(text.utf8) : inner == text.utf8
    }

    func text(of node: Int) -> JSONText {
        let inner = source(of: node).dropFirst().dropLast()
        return JSONText(validated: nodes[node].isSpecial ? Array(JSONEscape.Undone(inner))[...] : inner)
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
            var place = firstKey(of: node)
            while let current = place {
                let (key, next) = key(at: current, of: node)
                writeMember(key, into: &output, escapingControls: escapingControls)
                if next != nil { output.append(UInt8(ascii: ",")) }
                place = next
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
