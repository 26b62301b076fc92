package import Manifest
import Names

/// A card with everything filled in that a folder says, for a person to complete.
package enum CardDraft {
    /// Drafts a card.
    ///
    /// - Parameter variant: What the readers found; of a folder the README's front matter is read too.
    /// - Returns: A card whose empty texts are to be filled in, where those left empty count for nothing; and
    ///   notes on what the README says that was not understood.
    /// - Throws: `PublishingError` for a README that cannot be read.
    package static func card(
        for variant: InspectedVariant
    ) throws(PublishingError) -> (
        card: Card, notes: [String]
    ) {
        var card = Card()
        let words = try FoundWords(in: variant)
        let notes = words.notes(beside: card.description)
        words.fill(&card.description)
        card.description.summary = ""
        card.description.license = card.description.license ?? ""
        card.description.licenseURL = card.description.licenseURL ?? ""
        card.description.intendedUse = ""
        card.description.limitations = ""
        let bytes = variant.length
        let need = MemoryNeed(resident: bytes, peak: 2 * bytes, measured: "estimated from the files")
        card.variants[variant.name] = Card.VariantNotes(compute: [.cpu], memory: need)
        return (card, notes)
    }
}
