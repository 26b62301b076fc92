import Blocking
import CanonicalJSON
package import Manifest
import ModelFormats
package import Names

/// Where one variant's files lie on the publisher's machine.
package struct VariantSource: Sendable {
    package let name: VariantName

    /// A file or a folder.
    package let path: String

    /// What of a folder is left out.
    package let exclusions: FileExclusions

    package init(name: VariantName, path: String, without exclusions: FileExclusions = FileExclusions()) {
        self.name = name
        self.path = path
        self.exclusions = exclusions
    }
}

/// The files of a version: listed, digested and inspected, each read once.
package struct VersionSource: Sendable {
    struct ReadVariant: Sendable {
        fileprivate(set) var files: [MeasuredFile]
        let inspected: InspectedVariant

        var interface: Interface { inspected.inspection.interface }

        /// Bytes of the model's files.
        var length: UInt64 { inspected.length }
    }

    private(set) var variants: [ReadVariant]

    /// Golden vectors beside those of the card, as a manifest has them.
    var checks: [JSONValue] = []

    /// Keeps the files of golden vectors where they are until they are uploaded.
    var checkFiles: CheckFiles?

    /// What the first variant's files say of licence and origin.
    private let words: FoundWords?

    /// Left out of the version, by name.
    package let leftOut: [String]

    /// Every file once, whichever variants have it.
    package var files: [MeasuredFile] {
        var seen: Set<Digest> = []
        return variants.flatMap(\.files).filter { seen.insert($0.entry.sha256).inserted }
    }

    /// Every blob once, block lists included.
    package var blobs: [BlobReference] {
        files.flatMap { file in
            [BlobReference(sha256: file.entry.sha256, length: file.entry.length)]
                + (file.entry.blocks.map { [$0.list] } ?? [])
        }
    }

    /// Reads every file of every variant.
    ///
    /// - Parameters:
    ///   - sources: Where they lie.
    ///   - card: What is declared of each, if anything.
    /// - Returns: All of them, in this order.
    /// - Throws: `PublishingError` naming the first file that cannot be published.
    package static func read(
        _ sources: [VariantSource],
        card: Card? = nil
    ) async throws(PublishingError) -> VersionSource {
        guard !sources.isEmpty else { throw .usage("nothing to publish; give a file or a folder") }
        return try await BlockingPool.shared.run { () throws(PublishingError) -> VersionSource in
            var variants: [ReadVariant] = []
            var leftOut: [String] = []
            for inspected in try InspectedVariant.variants(sources, card: card) {
                leftOut += inspected.leftOut
                var files: [MeasuredFile] = []
                for file in inspected.files {
                    files.append(
                        try MeasuredFile(file.location, as: file.path, unchangedSince: file.state)
                    )
                }
                variants.append(ReadVariant(files: files, inspected: inspected))
            }
            let words = try variants.first.map { (variant) throws(PublishingError) in
                try FoundWords(in: variant.inspected)
            }
            return VersionSource(variants: variants, words: words, leftOut: leftOut)
        }
    }

    /// Puts files into every variant, beside the model's own.
    ///
    /// - Throws: `PublishingError.unpublishable` when a variant has no room.
    mutating func add(_ files: [MeasuredFile]) throws(PublishingError) {
        for index in variants.indices {
            let present = Set(variants[index].files.map(\.entry.path))
            variants[index].files += files.filter { !present.contains($0.entry.path) }
            variants[index].files.sort { $0.entry.path < $1.entry.path }
            guard variants[index].files.count <= Limits.filesInVariant else {
                throw .unpublishable(
                    "variant \(variants[index].inspected.name) has more than \(Limits.filesInVariant) files with those "
                        + "of its checks"
                )
            }
        }
    }

    /// What README and model say and is not taken, and why.
    func notes(beside card: Card?) -> [String] {
        let words = words?.notes(beside: card?.description.withoutEmptyTexts ?? ModelDescription()) ?? []
        guard card?.labels == nil else { return words }
        return words
            + variants.flatMap { variant in
                variant.inspected.inspection.notes.map { "\(variant.inspected.entry): \($0)" }
            }
    }

    /// The manifest of these files, with the card's words, and those that the files have where the card has none.
    ///
    /// - Throws: `PublishingError.unpublishable` for a card that does not fit the files.
    package func manifest(
        of model: ModelName,
        version: ModelVersion,
        created: UnixTime,
        card: Card?
    ) throws(PublishingError) -> ModelManifest {
        guard let first = variants.first else { throw .usage("nothing to publish") }
        let manifest = ModelManifest(
            model: model,
            version: version,
            created: created,
            interface: first.interface,
            variants: variants.map { variant in
                Variant(
                    name: variant.inspected.name,
                    format: variant.inspected.inspection.format,
                    entry: variant.inspected.entry,
                    requires: variant.inspected.inspection.requires,
                    files: variant.files.map(\.entry),
                    folders: variant.inspected.folders,
                    interface: variant.interface == first.interface ? nil : variant.interface
                )
            }
        )
        do {
            var merged = try card?.merged(into: manifest) ?? manifest
            merged.checks += checks
            words?.fill(&merged.description)
            return merged
        } catch { throw .unpublishable("\(error)") }
    }
}
