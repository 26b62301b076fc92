package import CanonicalJSON
import Names

/// One golden vector of a card: inputs, what must come out of them, and how exactly.
///
///     { "inputs": { NAME: VALUE, … }, "outputs": { NAME: VALUE, … },
///       "relative": DECIMAL, "absolute": DECIMAL, "argmax": true }
///
/// A VALUE is `{"base64": TEXT}`, or `{"file": PATH}` for a file of the
/// variant: the elements in their order, little-endian. The tolerances are
/// decimal texts such as `0.001`; `argmax` asks only where the greatest is.
package struct GoldenCheck: Equatable, Sendable {
    package let json: JSONValue
    private let inputs: [String]
    private let outputs: [String]
    private let files: [FilePath]

    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        var files: [FilePath] = []
        inputs = try Self.values(&reader, "inputs", &files)
        outputs = try Self.values(&reader, "outputs", &files)
        for key in ["relative", "absolute"] {
            _ = try reader.optionalParsed(key, "a decimal number from 0 up as text, such as \"0.001\"") {
                text in
                Self.isDecimal(text) ? text : nil
            }
        }
        if let value = reader.optional("argmax"), value != .bool(true) {
            throw place.member("argmax").invalid("true or absent", value)
        }
        try reader.finish()
        self.files = files
        json = value
    }

    private static func values(
        _ reader: inout MemberReader,
        _ key: String,
        _ files: inout [FilePath]
    ) throws(ManifestError) -> [String] {
        let members = try reader.map(key)
        guard !members.isEmpty else {
            throw reader.place.member(key).invalid("at least one value", "none")
        }
        for (_, value, place) in members {
            var inner = try MemberReader(value, at: place)
            if let file = try inner.optionalParsed("file", "a safe relative path in NFC", { FilePath($0) }) {
                files.append(file)
            } else {
                _ = try inner.parsed("base64", "bytes in base64") { Base64.bytes($0) }
            }
            try inner.finish()
        }
        return members.map(\.key)
    }

    private static func isDecimal(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        return (1...2).contains(parts.count) && text.utf8.count <= 32
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
    }

    /// Every name must be one of the model, and every file one of each variant.
    func checkNames(in manifest: ModelManifest) throws(ManifestError) {
        let interface = manifest.interface
        try Self.check(inputs, among: interface.inputs, "input")
        try Self.check(outputs, among: interface.outputs, "output")
        for variant in manifest.variants {
            guard let missing = files.first(where: { path in !variant.files.contains { $0.path == path } })
            else { continue }
            throw .editRefused(
                .card,
                reason: "`checks` wants the file \(missing), which variant \(variant.name) does not have"
            )
        }
    }

    private static func check(
        _ names: [String],
        among features: [Feature],
        _ kind: String
    ) throws(ManifestError) {
        let known = features.map(\.name.description)
        // Of a format that states no interface nothing is known here.
        guard !known.isEmpty, let stranger = names.first(where: { !known.contains($0) }) else { return }
        throw .editRefused(
            .card,
            reason:
                "`checks` speaks of \(kind) `\(Shown.short(stranger))`; the model has \(Shown.list(known))"
        )
    }
}
