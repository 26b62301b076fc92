import Names
import Signing

/// The name of a target file, as targets roles list it: `vision/detector/1.4.0.json`.
///
/// Any text; compared byte for byte. It is a name to look up, never a place on
/// a disk.
package struct TargetPath: Sendable, CustomStringConvertible {
    package let description: String

    package init(_ text: String) { description = text }

    /// Whether the path fits a pattern of a delegation (TUF 1.0.34, 4.5).
    ///
    /// Both are cut at `/` and must have as many parts. `*` stands for any run
    /// of code points inside a part, `?` for one, and `[…]` for one of a set as
    /// ``PatternSet`` reads it; none crosses `/`.
    package func matches(_ pattern: String) -> Bool {
        Self.bytes(description.utf8.span, match: pattern.utf8.span)
    }

    /// One pass that takes no memory without sets, for a role may list some hundred thousand patterns.
    ///
    /// Goes back to the latest star of the same part only, so the work is
    /// bounded by the product of the lengths of two parts; a set is read again
    /// at each code point that it is held against.
    private static func bytes(_ path: Span<UInt8>, match pattern: Span<UInt8>) -> Bool {
        let (slash, star) = (UInt8(ascii: "/"), UInt8(ascii: "*"))
        var (here, there) = (0, 0)
        var retry: (path: Int, pattern: Int)?
        while here < path.count {
            if there < pattern.count, pattern[there] == star {
                there += 1
                retry = (here, there)
            } else if let end = wildcard(at: there, in: pattern, fits: here, in: path) {
                here = next(after: here, in: path)
                there = end
            } else if there < pattern.count, pattern[there] == path[here],
                !isSet(at: there, in: pattern)
            {
                // What a star of the part before stood for is settled.
                if path[here] == slash { retry = nil }
                here += 1
                there += 1
            } else if let latest = retry, path[latest.path] != slash {
                here = next(after: latest.path, in: path)
                there = latest.pattern
                retry = (here, there)
            } else {
                return false
            }
        }
        while there < pattern.count, pattern[there] == star { there += 1 }
        return there == pattern.count
    }

    /// - Returns: The place behind the `?` or `[…]` at `there`, when that stands for the code point at `here`.
    private static func wildcard(
        at there: Int,
        in pattern: Span<UInt8>,
        fits here: Int,
        in path: Span<UInt8>
    ) -> Int? {
        guard there < pattern.count, path[here] != UInt8(ascii: "/") else { return nil }
        switch pattern[there] {
        case UInt8(ascii: "?"): return there + 1
        case PatternSet.opening:
            guard let set = PatternSet(at: there, in: pattern), set.contains(scalar(at: here, in: path))
            else {
                return nil
            }
            return set.end
        default: return nil
        }
    }

    /// Whether a closed set stands at `there`; an open one is but a bracket.
    private static func isSet(at there: Int, in pattern: Span<UInt8>) -> Bool {
        pattern[there] == PatternSet.opening && PatternSet.closing(ofSetAt: there, in: pattern) != nil
    }

    /// The code point at `index` of valid UTF-8.
    private static func scalar(at index: Int, in text: Span<UInt8>) -> UInt32 {
        let end = next(after: index, in: text)
        guard end > index + 1 else { return UInt32(text[index]) }
        // The leading byte of a sequence of N bytes has 7 - N bits to give.
        var scalar = UInt32(text[index]) & (1 << UInt32(7 - (end - index)) - 1)
        for place in index + 1..<end { scalar = scalar << 6 | UInt32(text[place] & 0x3F) }
        return scalar
    }

    /// The place behind the code point at `index`.
    private static func next(after index: Int, in text: Span<UInt8>) -> Int {
        var index = index + 1
        while index < text.count, text[index] & 0xC0 == 0x80 { index += 1 }
        return index
    }
}

extension TargetPath {
    /// Whether the path, put behind the URL of a folder, stays in that folder.
    package var staysInside: Bool {
        let parts = description.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        return !description.utf8.contains { $0 < 0x20 || $0 == 0x7F }
            && parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
    }

    private static let digestPrefix = "sha256-"

    /// A name for this target in one flat folder, one for each path, that leads nowhere else.
    ///
    /// Percent-encoded, a dot at the start too, so that a hidden name is never a
    /// target; where that would be too long for a disk, or look like one of these, a digest.
    package var fileName: String {
        let encoded = RoleName.encoded(description)
        let name = encoded.hasPrefix(".") ? "%2E" + encoded.dropFirst() : encoded
        guard name.utf8.count <= 200, !name.isEmpty, !name.utf8.starts(with: Self.digestPrefix.utf8) else {
            return Self.digestPrefix + SHA256.digest(of: Array(description.utf8)).hex
        }
        return name
    }
}

extension TargetPath: Hashable, Comparable {
    package static func == (left: Self, right: Self) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in description.utf8 { hasher.combine(byte) }
    }
}

extension TargetPath: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { description = text }
}
