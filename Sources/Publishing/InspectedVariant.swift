import Blocking
import Durable
import Glibc
package import Manifest
package import ModelFormats
package import Names

/// One variant's files, listed and their model read; weights are not touched.
package struct InspectedVariant: Sendable {
    package let name: VariantName
    package let entry: FilePath
    package let inspection: Inspection
    package let files: [ModelFolder.File]

    /// Left out, by name.
    package let skipped: [String]

    /// Of all files, in bytes.
    package var length: UInt64 { files.reduce(0) { $0 + $1.length } }

    /// Lists a path's files and finds the one model that they are.
    ///
    /// - Parameters:
    ///   - source: Where the files lie.
    ///   - notes: What the card says about this variant.
    /// - Returns: The variant, inspected.
    /// - Throws: `PublishingError.unpublishable`, saying which file is not taken and why.
    package static func inspect(
        _ source: VariantSource,
        notes: Card.VariantNotes? = nil
    ) async throws(PublishingError) -> InspectedVariant {
        try await BlockingPool.shared.run { () throws(PublishingError) -> InspectedVariant in
            try InspectedVariant(source, notes: notes)
        }
    }

    /// As `inspect`, on a thread that may block.
    init(_ source: VariantSource, notes: Card.VariantNotes?) throws(PublishingError) {
        let folder = try ModelFolder(source.path)
        let locations = Dictionary(
            folder.files.map { ($0.path, $0.location) },
            uniquingKeysWith: { first, _ in first }
        )
        let files = VariantFiles(folder.files.map { VariantFiles.File(path: $0.path, length: $0.length) }) {
            (path) throws(FormatError) in
            do throws(DurableError) { return try FileSource(locations[path] ?? "") } catch {
                throw .unreadable(.unreadable(code: error.code))
            }
        }
        let found: VariantInspection
        do throws(VariantError) {
            found = try ModelFile.inspect(files, declared: notes?.format, entry: notes?.entry)
        } catch {
            let place =
                folder.files.count == 1 ? source.path : "\(source.path): \(error.path.map { "\($0)" } ?? "")"
            throw .unpublishable("\(place) cannot be published: \(error.error)")
        }
        name = source.name
        entry = found.entry
        inspection = found.inspection
        self.files = folder.files
        skipped = folder.skipped
    }
}

extension DurableError {
    /// The system's number, or that of an input or output error where another rule was broken.
    fileprivate var code: Int32 { if case .system(_, _, let code) = self { code } else { EIO } }
}
