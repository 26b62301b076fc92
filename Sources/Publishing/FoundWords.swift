import Manifest
import Names

/// What a variant's files say of licence and origin: its README first, then the model file itself.
///
/// It stands where the card says nothing.
struct FoundWords: Sendable {
    private let readme: ReadmeFrontMatter?
    private let file: GGUFWords?
    private let entry: FilePath

    /// - Throws: `PublishingError.file` for a README that cannot be read.
    init(in variant: InspectedVariant) throws(PublishingError) {
        readme = try ReadmeFrontMatter(in: variant.files)
        file = GGUFWords(variant.inspection)
        entry = variant.entry
    }

    /// What is not taken: because it is not understood, or because another one counts.
    func notes(beside description: ModelDescription) -> [String] {
        var notes = readme?.notes(beside: description) ?? []
        guard let file, description.license == nil else { return notes }
        guard let readme, readme.saysLicense else { return notes + file.notes(in: entry) }
        if case .success(let other)? = file.license {
            var taken = ModelDescription()
            readme.fill(&taken)
            if let license = taken.license, license != other {
                notes.append(
                    "\(entry) says \(other) in `general.license`, and README.md \(license), which is taken"
                )
            }
        }
        return notes
    }

    /// Puts licence and origin where nobody has said them yet.
    func fill(_ description: inout ModelDescription) {
        readme?.fill(&description)
        file?.fill(&description, license: readme?.saysLicense != true)
    }
}
