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
    /// of code points inside a part and `?` for one; neither crosses `/`.
    package func matches(_ pattern: String) -> Bool {
        let slash = Unicode.Scalar(0x2F as UInt8)
        let parts = description.unicodeScalars.split(separator: slash, omittingEmptySubsequences: false)
        let patterns = pattern.unicodeScalars.split(separator: slash, omittingEmptySubsequences: false)
        guard parts.count == patterns.count else { return false }
        return zip(parts, patterns).allSatisfy { Self.part(Array($0), matches: Array($1)) }
    }

    /// Goes back to the latest star only, so the work is bounded by the product of the lengths.
    private static func part(_ text: [Unicode.Scalar], matches pattern: [Unicode.Scalar]) -> Bool {
        var (here, there) = (0, 0)
        var retry: (text: Int, pattern: Int)?
        while here < text.count {
            if there < pattern.count, pattern[there] == "*" {
                retry = (here, there + 1)
                there += 1
            } else if there < pattern.count, pattern[there] == "?" || pattern[there] == text[here] {
                here += 1
                there += 1
            } else if let latest = retry {
                retry = (latest.text + 1, latest.pattern)
                (here, there) = (latest.text + 1, latest.pattern)
            } else {
                return false
            }
        }
        return pattern[there...].allSatisfy { $0 == "*" }
    }
}

extension TargetPath {
    /// Whether the path, put behind the URL of a folder, stays in that folder.
    package var staysInside: Bool {
        let parts = description.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        return !description.utf8.contains { $0 < 0x20 || $0 == 0x7F }
            && parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
    }

    /// A name for this target in one flat folder, one for each path, that leads nowhere else.
    ///
    /// Percent-encoded, a dot at the start too, so that a hidden name is never a
    /// target; where that would be too long for a disk, a digest.
    package var fileName: String {
        let encoded = RoleName.encoded(description)
        let name = encoded.hasPrefix(".") ? "%2E" + encoded.dropFirst() : encoded
        guard name.utf8.count <= 200, !name.isEmpty else {
            return "sha256-" + SHA256.digest(of: Array(description.utf8)).hex
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
