/// Sorts the keys of one object by code point, which is by bytes, and finds one that stands twice.
///
/// By eight bytes at a time, and further only among keys that have those in
/// common, so that the work is in proportion to the text and to the number of
/// keys times its logarithm, whatever the text is.
struct JSONKeySort {
    private struct Key {
        /// The bytes at the present depth, most significant first, zeros behind the end.
        var chunk: UInt64 = 0
        let node: UInt32
        let start: UInt32
        let end: UInt32

        /// How many bytes are left at the present depth; 9 stands for more than `chunk` holds.
        var left: UInt8 = 0

        static func < (first: Self, second: Self) -> Bool {
            first.chunk == second.chunk ? first.left < second.left : first.chunk < second.chunk
        }
    }

    private static let width = 8

    /// The document, or the keys' text one behind the other when any of it was escaped.
    private let text: [UInt8]
    private var keys: [Key] = []

    /// - Parameters:
    ///   - object: Its keys are sorted.
    ///   - tree: All nodes of the document so far.
    ///   - bytes: The document.
    init(_ object: Int, of tree: [JSONTree.Node], in bytes: [UInt8]) {
        var hasEscape = false
        var node = object + 1
        while node < tree[object].next {
            let (start, end) = (tree[node].start + 1, tree[node].end - 1)
            keys.append(Key(node: UInt32(node), start: start, end: end))
            hasEscape = hasEscape || tree[node].isSpecial
            node = tree[node + 1].next
        }
        guard hasEscape else {
            text = bytes
            return
        }
        var undone: [UInt8] = []
        for index in keys.indices {
            let key = keys[index]
            let start = UInt32(undone.count)
            undone += JSONEscape.Undone(bytes[Int(key.start)..<Int(key.end)])
            keys[index] = Key(node: key.node, start: start, end: UInt32(undone.count))
        }
        text = undone
    }

    /// The keys as nodes, in the order in which they are now.
    var nodes: some Sequence<UInt32> { keys.lazy.map(\.node) }

    /// Puts the keys in order.
    ///
    /// - Returns: The node of a key that stands twice, where it stands the second time.
    mutating func sort() -> Int? {
        var open: [(range: Range<Int>, depth: Int)] = []
        if let node = sort(keys.indices, at: 0, &open) { return node }
        while let (range, depth) = open.popLast() {
            if let node = sort(range, at: depth, &open) { return node }
        }
        return nil
    }

    /// Sorts part of the keys by one chunk, and adds to `open` what has that in common and goes on.
    private mutating func sort(
        _ range: Range<Int>,
        at depth: Int,
        _ open: inout [(range: Range<Int>, depth: Int)]
    ) -> Int? {
        for index in range { keys[index] = read(keys[index], depth) }
        keys[range].sort { $0 < $1 }
        var first = range.lowerBound
        for index in range where index + 1 == range.upperBound || keys[index] < keys[index + 1] {
            if index > first {
                guard keys[index].left > Self.width else {
                    return keys[first...index].lazy.map { Int($0.node) }.sorted()[1]
                }
                open.append((first..<index + 1, depth + Self.width))
            }
            first = index + 1
        }
        return nil
    }

    /// The key with the chunk of `depth`.
    private func read(_ key: Key, _ depth: Int) -> Key {
        let span = text.span
        let start = Int(key.start) + depth
        let left = Int(key.end) - start
        var key = key
        key.chunk = 0
        for offset in 0..<Self.width {
            key.chunk = key.chunk << 8 | (offset < left ? UInt64(span[start + offset]) : 0)
        }
        key.left = UInt8(min(left, Self.width + 1))
        return key
    }
}
