import Blocking
import CanonicalJSON
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

    /// What the model needs beside them: folders in which there is nothing.
    package let folders: [FilePath]

    /// Left out, by name.
    package let leftOut: [String]

    /// The patterns by which something was left out.
    private let usedExclusions: Set<String>

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
            let variant = try InspectedVariant(source, notes: notes)
            try checkExclusions(of: [source], in: [variant])
            return variant
        }
    }

    /// As `inspect`, each variant of one version.
    package static func inspect(
        all sources: [VariantSource],
        card: Card?
    ) async throws(PublishingError) -> [InspectedVariant] {
        try await BlockingPool.shared.run { () throws(PublishingError) -> [InspectedVariant] in
            try variants(sources, card: card)
        }
    }

    /// Each variant of one version, on a thread that may block.
    static func variants(
        _ sources: [VariantSource],
        card: Card?
    ) throws(PublishingError) -> [InspectedVariant] {
        var variants: [InspectedVariant] = []
        for source in sources {
            variants.append(try InspectedVariant(source, notes: card?.variants[source.name]))
        }
        try checkExclusions(of: sources, in: variants)
        return variants
    }

    /// As `inspect`, on a thread that may block.
    init(_ source: VariantSource, notes: Card.VariantNotes?) throws(PublishingError) {
        let folder = try ModelFolder(source.path, without: source.exclusions)
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
            try Self.refuseReadable(source, files)
        } else {
            for file in folder.files { try Self.refuseCode(file, of: source.name, in: files) }
        }
        let found: VariantInspection
        do throws(VariantError) {
            found = try ModelFile.inspect(files, declared: notes?.format, entry: notes?.entry)
        } catch {
            throw .unpublishable(Self.sentence(about: error, source, folder))
        }
        if let absent = found.folders.first(where: { !folder.emptyFolders.contains("\($0)") }) {
            throw .unpublishable(
                "\(source.path) is not taken: \(found.entry) needs \(absent), a folder that may be empty; it is not there, "
                    + "or all that is in it is left out"
            )
        }
        name = source.name
        entry = found.entry
        folders = found.folders
        inspection = found.inspection
        self.files = folder.files
        leftOut = folder.leftOut
        usedExclusions = folder.usedExclusions
    }

    /// Refuses a pattern that leaves out nothing in any of the folders: a file that was meant to stay back would go.
    private static func checkExclusions(
        of sources: [VariantSource],
        in variants: [InspectedVariant]
    ) throws(PublishingError) {
        let used = variants.reduce(into: Set<String>()) { $0.formUnion($1.usedExclusions) }
        let idle = sources.flatMap(\.exclusions.texts).first { !used.contains($0) }
        guard let idle else { return }
        let places = sources.map(\.path).joined(separator: " and ")
        throw .usage(
            "--exclude ‘\(Shown.short(idle))’ matches nothing in \(places); a pattern without a slash is about the names "
                + "of files and folders, one with a slash about the path inside the folder"
        )
    }

    /// Why a variant's files are not taken, and what to do about it.
    private static func sentence(
        about error: VariantError,
        _ source: VariantSource,
        _ folder: ModelFolder
    ) -> String {
        let isAlone = folder.files.count == 1
        let inside = isAlone ? nil : error.path.map { "\(source.path): \($0)" }
        var sentence = "\(inside ?? source.path) is not taken: \(error.error)"
        guard case .files(_, let problem) = error.error else { return sentence }
        switch problem {
        case .missing where folder.isSingleFile:
            sentence += "; give the folder that holds all of them in place of the one file"
        case .severalModels(let paths):
            guard let last = paths.last else { break }
            sentence += ", or leave the others out, as with --exclude \(Self.quoted(last))"
        case .stray(let path): sentence += ", or leave it out: --exclude \(Self.quoted(path))"
        case .noModel, .entryUnknown:
            let entry = isAlone ? "" : ", \"entry\": \"FILE\""
            sentence += "; a card for that is \(OpaqueCard.text(source.name, entry: entry))"
        default: break
        }
        return sentence
    }

    /// A path as a shell takes it, for a pattern that names it; one without a slash names others of that name too.
    private static func quoted(_ path: String) -> String {
        guard !path.utf8.allSatisfy({ $0.isPlainInShells }) else { return path }
        let parts = path.split(separator: "'", omittingEmptySubsequences: false)
        return "'\(parts.joined(separator: #"'\''"#))'"
    }

    /// Refuses a file that runs code when it is opened; the content decides, whatever the name.
    private static func refuseCode(
        _ file: ModelFolder.File,
        of variant: VariantName,
        in files: VariantFiles
    ) throws(PublishingError) {
        let content: RunnableContent?
        do throws(DurableError) {
            let bytes = try FileSource(file.location)
            do throws(ByteSourceError) { content = try RunnableContent.found(in: bytes) } catch {
                throw .system("read", file.location)
            }
        } catch { throw .file(error) }
        guard let content else { return }
        // Beside a model that can be read it cannot become opaque.
        if let model = ModelFile.readable(in: files) {
            throw .unpublishable(
                "\(file.path) \(content), or leave it out, with --exclude \(Self.quoted("\(file.path)")): \(model.path) is "
                    + "the model there"
            )
        }
        let path = String(decoding: JSONValue.text(file.path.description).compactJSON, as: UTF8.self)
        let entry = files.files.count == 1 ? "" : ", \"entry\": \(path)"
        throw .unpublishable(
            "\(file.path) \(content), or declare the variant opaque, with a card such as "
                + OpaqueCard.text(variant, entry: entry)
        )
    }

    /// Refuses to call opaque what can be read, or what a reader knows and does not take, in whichever file.
    ///
    /// Apps would lose the interface that the file states, and devices the
    /// reader's refusal. Files that are broken or of no known format are not read.
    private static func refuseReadable(
        _ source: VariantSource,
        _ files: VariantFiles
    ) throws(PublishingError) {
        guard let model = ModelFile.readable(in: files) else { return }
        let place = files.files.count == 1 ? source.path : "\(source.path)/\(model.path)"
        if let refusal = model.refusal {
            throw .unpublishable("\(place) is declared opaque, and can be read: \(refusal)")
        }
        let remedy =
            files.files.count == 1
            ? "take `format` of variant \(source.name) out of the card"
            : "publish it as a model of its own and take it out of the folder, or take out what is opaque, and "
                + "`format` and `entry` of variant \(source.name) out of the card"
        throw .unpublishable(
            "\(place) is declared opaque, and its content is \(model.format.rawValue), which can be read; \(remedy)"
        )
    }
}

/// A card that declares a variant opaque, whole, for people to copy.
private enum OpaqueCard {
    static func text(_ variant: VariantName, entry: String) -> String {
        "{\"type\": \"sealift/card@1\", \"variants\": {\"\(variant)\": {\"format\": \"opaque\"\(entry)}}}"
    }
}

extension UInt8 {
    /// Letters, digits and what means nothing to a shell.
    fileprivate var isPlainInShells: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "._-/+,@".utf8.contains(self)
        }
    }
}

extension DurableError {
    /// The system's number, or that of an input or output error where another rule was broken.
    fileprivate var code: Int32 { if case .system(_, _, let code) = self { code } else { EIO } }
}
