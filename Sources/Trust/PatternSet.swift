/// `[…]` in a path pattern: one code point out of a set, or with `!` in front one that is not in it.
///
/// TUF 1.0.34, 4.5, takes its patterns from the shell and says no more. Clients
/// that differ here would differ in who may speak for a path, so this is to the
/// letter what python-tuf does: Python's `fnmatch`, on one part of a path.
///
/// - A `]` in the first place is a member, and so is a `-` in the first or the last.
/// - `a-c` is a range; one that runs backwards is left out, and what is left is read as if it had not been there.
/// - A set without an end in the same part is not a set: its `[` is a bracket.
struct PatternSet {
    static let opening = UInt8(ascii: "[")

    /// The place behind the closing bracket.
    let end: Int
    private let isNegated: Bool
    private let ranges: [ClosedRange<UInt32>]

    /// Reads the set whose opening bracket is at `start`.
    ///
    /// - Returns: `nil` when it has no end.
    init?(at start: Int, in pattern: Span<UInt8>) {
        guard let closing = Self.closing(ofSetAt: start, in: pattern) else { return nil }
        end = closing + 1
        var inner: [UInt8] = []
        for place in start + 1..<closing { inner.append(pattern[place]) }
        let scalars = String(decoding: inner, as: UTF8.self).unicodeScalars.map(\.value)
        (isNegated, ranges) = Self.members(Self.withoutEmptyRanges(Self.pieces(scalars)))
    }

    func contains(_ scalar: UInt32) -> Bool { ranges.contains { $0.contains(scalar) } != isNegated }

    /// Where the set's closing bracket stands, in the same part of the path.
    static func closing(ofSetAt start: Int, in pattern: Span<UInt8>) -> Int? {
        var place = start + 1
        if place < pattern.count, pattern[place] == UInt8(ascii: "!") { place += 1 }
        if place < pattern.count, pattern[place] == UInt8(ascii: "]") { place += 1 }
        while place < pattern.count, pattern[place] != UInt8(ascii: "/") {
            if pattern[place] == UInt8(ascii: "]") { return place }
            place += 1
        }
        return nil
    }

    private static let hyphen = Unicode.Scalar("-").value
    private static let exclamation = Unicode.Scalar("!").value

    /// What stands between the hyphens that make ranges: from the last of one piece to the first of the next.
    private static func pieces(_ inner: [UInt32]) -> [[UInt32]] {
        var pieces: [[UInt32]] = []
        var start = 0
        var place = inner.first == exclamation ? 2 : 1
        while place < inner.count {
            guard inner[place] == hyphen else {
                place += 1
                continue
            }
            pieces.append(Array(inner[start..<place]))
            start = place + 1
            // The end of one range is not the start of another.
            place += 3
        }
        if start < inner.count || pieces.isEmpty {
            pieces.append(Array(inner[start...]))
        } else {
            pieces[pieces.count - 1].append(hyphen)
        }
        return pieces
    }

    private static func withoutEmptyRanges(_ pieces: [[UInt32]]) -> [[UInt32]] {
        var pieces = pieces
        for index in pieces.indices.dropFirst().reversed() {
            guard let least = pieces[index - 1].last, let most = pieces[index].first, least > most else {
                continue
            }
            pieces[index - 1] = pieces[index - 1].dropLast() + pieces[index].dropFirst()
            pieces.remove(at: index)
        }
        return pieces
    }

    private static func members(
        _ pieces: [[UInt32]]
    ) -> (isNegated: Bool, ranges: [ClosedRange<UInt32>]) {
        var pieces = pieces
        let isNegated = pieces.first?.first == exclamation
        if isNegated { pieces[0].removeFirst() }
        var ranges: [ClosedRange<UInt32>] = []
        for (index, piece) in pieces.enumerated() {
            ranges += piece.map { $0...$0 }
            guard index > 0, let most = piece.first else { continue }
            // With nothing before it, the hyphen stands for itself.
            guard let least = pieces[index - 1].last else {
                ranges.append(hyphen...hyphen)
                continue
            }
            if least <= most { ranges.append(least...most) }
        }
        return (isNegated, ranges)
    }
}
