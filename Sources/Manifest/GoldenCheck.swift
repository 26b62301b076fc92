package import CanonicalJSON
import Names

/// One golden vector of a card: inputs, what must come out of them, and how exactly.
///
///     { "inputs": { NAME: VALUE, … }, "outputs": { NAME: VALUE, … },
///       "relative": DECIMAL, "absolute": DECIMAL, "argmax": true }
///
/// A NAME is one of the model, or its ``FeatureName/key``, as a manifest has
/// it. A VALUE is `{"base64": TEXT}`, or `{"file": PATH}` for a file of the
/// variant: the elements in their order, little-endian. The tolerances are
/// decimal texts such as `0.001`; `argmax` asks only where the greatest is.
package struct GoldenCheck: Equatable, Sendable {
    package let json: JSONValue
    private let files: [FilePath]

    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        var files: [FilePath] = []
        try Self.checkValues(&reader, "inputs", &files)
        try Self.checkValues(&reader, "outputs", &files)
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

    private static func checkValues(
        _ reader: inout MemberReader,
        _ key: String,
        _ files: inout [FilePath]
    ) throws(ManifestError) {
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
    }

    private static func isDecimal(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        return (1...2).contains(parts.count) && text.utf8.count <= 32
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
    }

    /// As a manifest has it, with every name as its key.
    ///
    /// - Throws: `ManifestError.editRefused` for a name that is none of the model.
    package func json(for interface: Interface) throws(ManifestError) -> JSONValue {
        guard var members = json.object else { return json }
        members["inputs"] = try Self.keyed(json["inputs"], by: interface.inputs, "input")
        members["outputs"] = try Self.keyed(json["outputs"], by: interface.outputs, "output")
        return .object(members)
    }

    /// Every file must be one of each variant.
    func checkFiles(in manifest: ModelManifest) throws(ManifestError) {
        for variant in manifest.variants {
            guard let missing = files.first(where: { path in !variant.files.contains { $0.path == path } })
            else { continue }
            throw .editRefused(
                .card,
                reason: "`checks` wants the file \(missing), which variant \(variant.name) does not have"
            )
        }
    }

    private static func keyed(
        _ values: JSONValue?,
        by features: [Feature],
        _ kind: String
    ) throws(ManifestError) -> JSONValue {
        let known = features.map(\.name)
        var keyed = JSONObject()
        for member in values?.object?.members ?? [] {
            let said = member.key.string
            // Of a format that states no interface nothing is known here.
            guard let key = FeatureName.key(meaning: said, among: known) else {
                let there = Shown.list(known.map(\.description))
                let reason = "`checks` speaks of \(kind) `\(Shown.short(said))`; the model has \(there)"
                throw .editRefused(.card, reason: reason)
            }
            guard keyed[key] == nil else {
                let reason = "`checks` speaks twice of \(kind) `\(Shown.short(said))`"
                throw .editRefused(.card, reason: reason)
            }
            keyed[key] = member.value
        }
        return .object(keyed)
    }
}
