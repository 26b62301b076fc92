import Names

/// Follows the operations of a Python pickle, and does none of them.
///
/// A pickle is a program for a machine with a stack (Python's `pickletools`).
/// Most bytes break a rule of that machine within a few steps: an unknown
/// operation, a value that is not there, a number that is none. What goes on to
/// the end, or so far that it would call something, is a pickle by any name.
struct PickleWalk {
    private var bytes: ByteCursor
    private var depth = 0
    private var marks: [Int] = []
    private var hasProtocol = false
    private var namesCode = false
    private var isStructured = false

    private enum Step { case goesOn, stops, ends, breaks, calls }

    private static let mostSteps = 1 << 20

    private init(_ source: any ByteSource) { bytes = ByteCursor(source) }

    /// Whether `pickle.load` would take these bytes, or run code before it stops at them.
    ///
    /// Without the mark of protocols 2 to 5 a pickle may be short enough to be a
    /// word of text; then it must hold a list or the like and fill its file.
    static func isPickle(_ source: any ByteSource) throws(ByteSourceError) -> Bool {
        var walk = PickleWalk(source)
        for _ in 0..<mostSteps {
            switch try walk.step() {
            case .goesOn: continue
            case .calls: return true
            case .ends: return walk.hasProtocol
            case .breaks: return false
            case .stops:
                return walk.hasProtocol || walk.namesCode
                    || (walk.isStructured && walk.bytes.position == source.length)
            }
        }
        return true
    }

    /// How many values lie above the last mark.
    private var height: Int { depth - (marks.last ?? 0) }

    private mutating func step() throws(ByteSourceError) -> Step {
        let isFirst = bytes.position == 0
        guard let operation = try bytes.next() else { return .ends }
        switch operation {
        case 0x80:
            guard let version = try bytes.next(), version <= 5 else { return .breaks }
            hasProtocol = hasProtocol || isFirst
            return .goesOn
        case 0x95: return try bytes.pass(8) ? .goesOn : .breaks
        case UInt8(ascii: "."): return height >= 1 ? .stops : .breaks
        case UInt8(ascii: "("):
            marks.append(depth)
            return .goesOn
        case UInt8(ascii: "0") where height == 0: return marks.popLast() == nil ? .breaks : .goesOn
        case UInt8(ascii: "c"):
            guard try name(), try name() else { return .breaks }
            namesCode = true
            return exchange(0, 1)
        case UInt8(ascii: "i"):
            guard try name(), try name(), fold(keeping: 0, atLeast: 0) == .goesOn else { return .breaks }
            return .calls
        case UInt8(ascii: "o"): return fold(keeping: 0, atLeast: 1) == .goesOn ? .calls : .breaks
        default: return try value(operation)
        }
    }

    /// Operations that push, take or exchange values.
    private mutating func value(_ operation: UInt8) throws(ByteSourceError) -> Step {
        if let width = Self.fixed[operation] {
            if (0x82...0x84).contains(operation) { namesCode = true }
            return try bytes.pass(width) ? exchange(0, 1) : .breaks
        }
        if let width = Self.counted[operation] {
            guard let count = try bytes.number(width), try bytes.pass(count) else { return .breaks }
            return exchange(0, 1)
        }
        if let (width, needed) = Self.memo[operation] {
            guard try bytes.pass(width) else { return .breaks }
            isStructured = true
            return exchange(needed, 1)
        }
        if let (taken, given) = Self.exchanges[operation] {
            let calls =
                operation == UInt8(ascii: "R") || operation == UInt8(ascii: "b") || operation == 0x81
                || operation == 0x92
            if operation == 0x93 { namesCode = true }
            let step = exchange(taken, given)
            return step == .goesOn && calls && namesCode ? .calls : step
        }
        switch operation {
        case UInt8(ascii: "F"), UInt8(ascii: "I"), UInt8(ascii: "L"):
            return try line { !$0.isEmpty && $0.allSatisfy(Self.isOfNumber) } ? exchange(0, 1) : .breaks
        case UInt8(ascii: "S"):
            return try line { $0.count >= 2 && ($0[0] == 0x22 || $0[0] == 0x27) } ? exchange(0, 1) : .breaks
        case UInt8(ascii: "V"), UInt8(ascii: "P"): return try line { _ in true } ? exchange(0, 1) : .breaks
        case UInt8(ascii: "g"), UInt8(ascii: "p"):
            isStructured = true
            let isPut = operation == UInt8(ascii: "p")
            return try line { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
                ? exchange(isPut ? 1 : 0, 1) : .breaks
        case UInt8(ascii: "t"), UInt8(ascii: "l"), UInt8(ascii: "d"), 0x91:
            return fold(keeping: 0, atLeast: 0)
        case UInt8(ascii: "e"), UInt8(ascii: "u"), 0x90: return fold(keeping: 1, atLeast: 0)
        case UInt8(ascii: "1"):
            guard let mark = marks.popLast() else { return .breaks }
            depth = mark
            return .goesOn
        default: return .breaks
        }
    }

    private mutating func exchange(_ taken: Int, _ given: Int) -> Step {
        guard height >= taken else { return .breaks }
        depth += given - taken
        return .goesOn
    }

    /// Makes one value of all above the last mark, or puts them into the one below it.
    private mutating func fold(keeping: Int, atLeast: Int) -> Step {
        guard height >= atLeast, let mark = marks.popLast() else { return .breaks }
        depth = mark
        isStructured = true
        return exchange(keeping, 1)
    }

    private mutating func line(_ isValid: ([UInt8]) -> Bool) throws(ByteSourceError) -> Bool {
        guard let line = try bytes.line(atMost: 65_536) else { return false }
        return isValid(line)
    }

    /// A module or a name in it.
    private mutating func name() throws(ByteSourceError) -> Bool {
        try line { !$0.isEmpty && $0.allSatisfy { $0 > 0x20 && $0 != 0x7F } }
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || Array("+-._ eExXoObBaAcCdDfFlLnNiItTyY\r".utf8).contains(byte)
    }

    /// Bytes behind an operation that pushes a value.
    private static let fixed: [UInt8: UInt64] = [
        0x4A: 4, 0x4B: 1, 0x4D: 2, 0x4E: 0, 0x47: 8, 0x7D: 0, 0x5D: 0, 0x29: 0, 0x82: 1, 0x83: 2, 0x84: 4,
        0x88: 0, 0x89: 0, 0x8F: 0, 0x97: 0,
    ]

    /// Bytes of the length that stands before a pushed value.
    private static let counted: [UInt8: Int] = [
        0x54: 4, 0x55: 1, 0x58: 4, 0x42: 4, 0x43: 1, 0x8A: 1, 0x8B: 4, 0x8C: 1, 0x8D: 8, 0x8E: 8, 0x96: 8,
    ]

    /// Bytes of a place in the memo, and values that must be there.
    private static let memo: [UInt8: (UInt64, Int)] = [
        0x68: (1, 0), 0x6A: (4, 0), 0x71: (1, 1), 0x72: (4, 1), 0x94: (0, 1),
    ]

    /// Values taken and given.
    private static let exchanges: [UInt8: (Int, Int)] = [
        0x30: (1, 0), 0x32: (1, 2), 0x51: (1, 1), 0x52: (2, 1), 0x61: (2, 1), 0x62: (2, 1), 0x73: (3, 1),
        0x81: (2, 1), 0x85: (1, 1), 0x86: (2, 1), 0x87: (3, 1), 0x92: (3, 1), 0x93: (2, 1), 0x98: (1, 1),
    ]
}

/// Bytes one after the other, read in pages; what is passed over is not read.
private struct ByteCursor {
    private let source: any ByteSource
    private(set) var position: UInt64 = 0
    private var page: [UInt8] = []
    private var pageStart: UInt64 = 0

    init(_ source: any ByteSource) { self.source = source }

    mutating func next() throws(ByteSourceError) -> UInt8? {
        guard position < source.length else { return nil }
        if position < pageStart || position - pageStart >= UInt64(page.count) {
            page = try source.bytes(at: position, count: Int(min(4_096, source.length - position)))
            pageStart = position
        }
        defer { position += 1 }
        return page[Int(position - pageStart)]
    }

    /// - Returns: Whether so many bytes are there.
    mutating func pass(_ count: UInt64) throws(ByteSourceError) -> Bool {
        guard count <= source.length - position else { return false }
        position += count
        return true
    }

    /// Little-endian; `nil` at the end.
    mutating func number(_ width: Int) throws(ByteSourceError) -> UInt64? {
        var number: UInt64 = 0
        for index in 0..<width {
            guard let byte = try next() else { return nil }
            number |= UInt64(byte) << UInt64(8 * index)
        }
        return number
    }

    /// Up to a line feed, which is taken and not returned; `nil` when there is none.
    mutating func line(atMost most: Int) throws(ByteSourceError) -> [UInt8]? {
        var line: [UInt8] = []
        while let byte = try next() {
            if byte == 0x0A { return line }
            guard line.count < most else { return nil }
            line.append(byte)
        }
        return nil
    }
}
