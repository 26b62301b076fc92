package import CanonicalJSON

/// What people write about a model; none of it decides anything.
package struct ModelDescription: Equatable, Sendable {
    package var summary: String?

    /// An SPDX license identifier or expression.
    package var license: String?
    package var licenseURL: String?
    package var intendedUse: String?
    package var limitations: String?
    package var notes: String?

    /// Source revision, data sets, metrics: an object, carried as it stands.
    package var provenance: JSONValue?

    package init() {}

    /// Without what a draft left to be filled in and nobody did.
    package var withoutEmptyTexts: ModelDescription {
        func filled(_ text: String?) -> String? { text?.isEmpty == true ? nil : text }
        var copy = self
        copy.summary = filled(summary)
        copy.license = filled(license)
        copy.licenseURL = filled(licenseURL)
        copy.intendedUse = filled(intendedUse)
        copy.limitations = filled(limitations)
        copy.notes = filled(notes)
        return copy
    }
}

extension ModelDescription {
    init(_ reader: inout MemberReader) throws(ManifestError) {
        summary = try reader.optionalText("summary")
        license = try reader.optionalText("license")
        licenseURL = try reader.optionalText("license_url")
        intendedUse = try reader.optionalText("intended_use")
        limitations = try reader.optionalText("limitations")
        notes = try reader.optionalText("notes")
        provenance = reader.optional("provenance")
        if let provenance, provenance.object == nil {
            throw reader.place.member("provenance").invalid("an object", provenance)
        }
    }

    func write(into object: inout JSONObject) {
        object.set("summary", text: summary)
        object.set("license", text: license)
        object.set("license_url", text: licenseURL)
        object.set("intended_use", text: intendedUse)
        object.set("limitations", text: limitations)
        object.set("notes", text: notes)
        object.set("provenance", provenance)
    }
}
