import CanonicalJSON
import Manifest
import ModelFormats
import Names

/// What a GGUF file says of its origin in its `general.…` pairs, which converters fill in from what they convert.
///
/// It counts where neither the card nor the README says it: the file is the
/// model, but its words are often those of a model that it was made from.
/// What the reader shows in brackets is not taken: lists (`general.tags`) and
/// long texts.
struct GGUFWords {
    private let values: [String: String]

    /// Texts about origin, and what a manifest's provenance calls them; of several the first one that is there.
    private static let origin: [(key: String, names: [String])] = [
        ("name", ["general.name"]),
        ("author", ["general.author"]),
        ("organization", ["general.organization"]),
        ("source", ["general.repo_url", "general.source.repo_url", "general.url", "general.source.url"]),
        ("base_model", ["general.base_model.0.repo_url", "general.base_model.0.name"]),
        ("quantized_by", ["general.quantized_by"]),
    ]

    /// - Returns: `nil` for a model of another format.
    init?(_ inspection: Inspection) {
        guard inspection.format == .gguf else { return nil }
        var values: [String: String] = [:]
        for property in inspection.metadata.properties where property.key.hasPrefix("general.") {
            let text = property.value
            guard !text.isEmpty, text.utf8.count <= 4_096, !text.hasPrefix("["),
                text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
            else { continue }
            values[property.key] = text
        }
        self.values = values
    }

    /// The licence; `nil` where none is named.
    var license: Result<String, StatedLicense.Trouble>? {
        values["general.license"].map {
            StatedLicense.expression([$0], named: values["general.license.name"], "general.license.name")
        }
    }

    /// What was not understood.
    func notes(in file: FilePath) -> [String] {
        guard case .failure(let trouble)? = license else { return [] }
        return [
            "\(file): no licence is taken from `general.license`: \(trouble.reason); say it in the card, `license`"
        ]
    }

    /// Puts origin, and the licence if it is wanted, where nobody has said them yet.
    func fill(_ description: inout ModelDescription, license isWanted: Bool) {
        if isWanted, description.license == nil, case .success(let license)? = license {
            description.license = license
            description.licenseURL = description.licenseURL ?? values["general.license.link"]
        }
        guard description.provenance == nil else { return }
        var provenance = JSONObject()
        for (key, names) in Self.origin {
            guard let text = names.lazy.compactMap({ values[$0] }).first else { continue }
            provenance[key] = .text(text)
        }
        if !provenance.isEmpty { description.provenance = .object(provenance) }
    }
}
