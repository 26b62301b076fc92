/// The keys of the objects of one document that did not stand in order, in order.
///
/// Four bytes a key and eight an object, and no allocation for any object: a
/// document may hold some hundred thousand of them.
struct JSONKeyOrders: Sendable {
    private struct Entry {
        let object: UInt32
        let first: UInt32
    }

    /// On the last key of an object; node numbers are below it.
    private static let last: UInt32 = 1 << 31

    private var entries: [Entry] = []
    private var keys: [UInt32] = []

    /// Adds the keys of `object`, at least two.
    mutating func add(_ ordered: some Sequence<UInt32>, of object: Int) {
        entries.append(Entry(object: UInt32(object), first: UInt32(keys.count)))
        keys += ordered
        keys[keys.count - 1] |= Self.last
    }

    /// Makes what was added ready for ``first(of:)``.
    mutating func close() { entries.sort { $0.object < $1.object } }

    /// The place of the first key of `object`.
    ///
    /// - Precondition: The object's keys were added.
    func first(of object: Int) -> Int {
        var low = 0
        var high = entries.count - 1
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].object < UInt32(object) { low = middle + 1 } else { high = middle }
        }
        return Int(entries[low].first)
    }

    /// The key at a place, and the place behind; `nil` behind the last key of its object.
    func key(at place: Int) -> (key: Int, next: Int?) {
        let key = keys[place]
        return (Int(key & ~Self.last), key & Self.last == 0 ? place + 1 : nil)
    }
}
