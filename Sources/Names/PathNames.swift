@_spi(_Unicode) import Swift

/// The names of a set of files and of the folders above them, to find two that elsewhere would be one.
///
/// On a system that ignores case or normalises names, `A/x` and `a/y` lie in
/// one folder, and `straße` and `STRASSE` are one file. Such a set would
/// come out differently there.
package struct PathNames {
    private struct Name {
        let spelling: String
        let isFolder: Bool
    }

    private var names: [[UInt8]: Name] = [:]

    package init() {}

    /// Adds a file and the folders above it.
    ///
    /// - Returns: What the file or a folder above it clashes with, the set then being unusable; `nil` when
    ///   nothing does.
    package mutating func insert(_ path: FilePath) -> String? {
        let segments = path.segments
        var spelling = ""
        var key: [UInt8] = []
        for (index, segment) in segments.enumerated() {
            let isFolder = index < segments.count - 1
            spelling += (index == 0 ? "" : "/") + segment
            key += (index == 0 ? [] : [0x2F]) + Self.folded(segment)
            guard let known = names.updateValue(Name(spelling: spelling, isFolder: isFolder), forKey: key)
            else { continue }
            let isSame = known.spelling.utf8.elementsEqual(spelling.utf8)
            guard isSame && known.isFolder && isFolder else { return known.spelling }
        }
        return nil
    }

    /// A name in NFC with case folded away.
    ///
    /// Full folding: `ß` is `ss`, and letters that share an upper-case form are one.
    static func folded(_ name: String) -> [UInt8] {
        let bytes = Array(name.utf8)
        guard bytes.contains(where: { $0 >= 0x80 }) else {
            return bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        }
        var text = name
        // Once more, since composing may bring forth a letter with another case.
        for _ in 0..<2 {
            text = mapped(text) { $0.lowercaseMapping }
            text = mapped(text) { $0.uppercaseMapping }
            text = mapped(text) { $0.lowercaseMapping }
            var composed = ""
            for scalar in text._nfc { composed.unicodeScalars.append(scalar) }
            text = composed
        }
        return Array(text.utf8)
    }

    private static func mapped(
        _ text: String,
        _ mapping: (Unicode.Scalar.Properties) -> String
    ) -> String {
        text.unicodeScalars.reduce(into: "") { $0 += mapping($1.properties) }
    }
}
