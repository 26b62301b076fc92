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
    package let leftOut: [String]

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
        let opening = { (path: FilePath) throws(FormatError) -> any ByteSource in
            do throws(DurableError) { return try FileSource(locations[path] ?? "") } catch {
                throw .unreadable(.unreadable(code: error.code))
            }
        }
        let files = VariantFiles(
            folder.files.map { VariantFiles.File(path: $0.path, length: $0.length) },
            opening: opening
        )
        if notes?.format == .opaque {
            let entry = notes?.entry ?? (folder.files.count == 1 ? folder.files[0].path : nil)
            try Self.refuseReadable(source, files, entry, opening)
        } else {
            for file in folder.files { try Self.refuseCode(file, of: source.name) }
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
        leftOut = folder.leftOut
    }

    /// Refuses a file that runs code when it is opened; the content decides, whatever the name.
    private static func refuseCode(
        _ file: ModelFolder.File,
        of variant: VariantName
    ) throws(PublishingError) {
        let content: RunnableContent?
        do throws(DurableError) {
            let bytes = try FileSource(file.location)
            do throws(ByteSourceError) { content = try RunnableContent.found(in: bytes) } catch {
                throw .system("read", file.location)
            }
        } catch { throw .file(error) }
        guard let content else { return }
        throw .unpublishable(
            "\(file.path) \(content), or declare the variant opaque in the card: "
                + "\"variants\": {\"\(variant)\": {\"format\": \"opaque\"}}"
        )
    }

    /// Refuses to call opaque what can be read, or what a reader knows and does not take.
    ///
    /// Apps would lose the interface that the file states, and devices the
    /// reader's refusal. Files that are broken or of no known format are not read.
    private static func refuseReadable(
        _ source: VariantSource,
        _ files: VariantFiles,
        _ entry: FilePath?,
        _ opening: (FilePath) throws(FormatError) -> any ByteSource
    ) throws(PublishingError) {
        let remedy = "take `format` of variant \(source.name) out of the card"
        var format = (try? ModelFile.inspect(files))?.inspection.format
        // Several models, or something beside one that is refused: the entry alone decides.
        if format == nil, let entry, files.files.contains(where: { $0.path == entry }) {
            do throws(FormatError) {
                format = try ModelFile.inspect(source: opening(entry), name: "").format
            } catch {
                if case .refused = error {
                    throw .unpublishable("\(entry) is declared opaque, and can be read: \(error)")
                }
            }
        }
        guard let format, format != .opaque else { return }
        throw .unpublishable(
            "\(source.path) is declared opaque, and its content is \(format.rawValue), which can be read; \(remedy)"
        )
    }
}

extension DurableError {
    /// The system's number, or that of an input or output error where another rule was broken.
    fileprivate var code: Int32 { if case .system(_, _, let code) = self { code } else { EIO } }
}
