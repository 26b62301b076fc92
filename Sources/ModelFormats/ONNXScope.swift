/// The values that one graph or function has, of each a number made of its name, and who makes it.
///
/// A graph may have hundreds of thousands, and all that is asked is whether a
/// name is there. So eight bytes of each are kept, in a table that is at most
/// three quarters full. The numbers come of a seed that is another one in each
/// process: nobody can make two names with one number, and by chance that
/// happens to one file in millions.
struct ONNXScope {
    /// Who makes a value; an input may have an initializer besides, and nothing else two makers.
    struct Makers: OptionSet {
        let rawValue: UInt64

        static let input = Makers(rawValue: 1)
        static let initializer = Makers(rawValue: 2)
        static let node: Makers = [.input, .initializer]
    }

    /// A name as a number, whose last two bits are free for its makers.
    struct Key: Hashable {
        fileprivate let bits: UInt64

        init(_ name: [UInt8]) {
            var hasher = Hasher()
            hasher.combine(name.count)
            var word: UInt64 = 0
            for (index, byte) in name.enumerated() {
                word = word << 8 | UInt64(byte)
                if index % 8 == 7 { hasher.combine(word) }
            }
            hasher.combine(word)
            bits = UInt64(bitPattern: Int64(hasher.finalize())) & ~3
        }
    }

    private var slots: [UInt64] = []
    private(set) var count = 0

    /// Who makes a value, nobody where it is not there.
    func makers(of key: Key) -> Makers {
        slots.isEmpty ? [] : Makers(rawValue: slots[slot(of: key.bits)] & 3)
    }

    mutating func insert(_ key: Key, by makers: Makers) {
        if count * 4 >= slots.count * 3 { grow() }
        let slot = slot(of: key.bits)
        if slots[slot] == 0 { count += 1 }
        slots[slot] = slots[slot] | key.bits | makers.rawValue
    }

    /// Where a number stands, or would.
    private func slot(of bits: UInt64) -> Int {
        let mask = UInt64(slots.count - 1)
        var slot = bits >> 2 & mask
        while slots[Int(slot)] != 0, slots[Int(slot)] & ~3 != bits { slot = (slot + 1) & mask }
        return Int(slot)
    }

    private mutating func grow() {
        let before = slots
        slots = Array(repeating: 0, count: max(16, before.count * 2))
        for entry in before where entry != 0 { slots[slot(of: entry & ~3)] = entry }
    }
}
