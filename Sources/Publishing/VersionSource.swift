import Blocking
import Durable
package import Manifest
import ModelFormats
package import Names

/// Where one variant's files lie on the publisher's machine.
package struct VariantSource: Sendable {
    package let name: VariantName

    /// A file or a folder.
    package let path: String

    package init(name: VariantName, path: String) {
        self.name = name
        self.path = path
    }
}

/// The files of a version: listed, digested and inspected, each read once.
package struct VersionSource: Sendable {
    private struct ReadVariant: Sendable {
        let name: VariantName
        let files: [MeasuredFile]
        let entry: FilePath
        let format: ModelFormat
        let interface: Interface
        let requires: Requirements
    }

    private let variants: [ReadVariant]

    /// Left out of the version, by name.
    package let skipped: [String]

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
    /// - Throws: `PublishingError` naming the first file that cannot be published.
    package static func read(_ sources: [VariantSource]) async throws(PublishingError) -> VersionSource {
        guard !sources.isEmpty else { throw .usage("nothing to publish; give a file or a folder") }
        return try await BlockingPool.shared.run { () throws(PublishingError) -> VersionSource in
            var variants: [ReadVariant] = []
            var skipped: [String] = []
            for source in sources {
                let folder = try ModelFolder(source.path)
                skipped += folder.skipped
                variants.append(try read(folder, as: source.name, from: source.path))
            }
            return VersionSource(variants: variants, skipped: skipped)
        }
    }

    /// The manifest of these files, with the card's words.
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
                    name: variant.name,
                    format: variant.format,
                    entry: variant.entry,
                    requires: variant.requires,
                    files: variant.files.map(\.entry),
                    interface: variant.interface == first.interface ? nil : variant.interface
                )
            }
        )
        do { return try card?.merged(into: manifest) ?? manifest } catch { throw .unpublishable("\(error)") }
    }

    private static func read(
        _ folder: ModelFolder,
        as name: VariantName,
        from path: String
    ) throws(PublishingError) -> ReadVariant {
        var models: [(path: FilePath, inspection: Inspection)] = []
        for file in folder.files where folder.files.count == 1 || isModel(file.path) {
            let source: FileSource
            do { source = try FileSource(file.location) } catch { throw .file(error) }
            do {
                let inspection = try ModelFile.inspect(source: source, name: "\(file.path)")
                if inspection.format == .onnx { models.append((file.path, inspection)) }
            } catch { throw .unpublishable("\(file.location) cannot be published: \(error)") }
        }
        guard models.count <= 1 else {
            throw .unpublishable(
                "\(path) holds \(models.count) models (\(models.map { "\($0.path)" }.joined(separator: ", "))); "
                    + "publish each as a model or a variant of its own"
            )
        }
        guard let model = models.first else {
            throw .unpublishable(
                "\(path): no file of it is a model whose interface this version of Sealift can read; it reads ONNX"
            )
        }
        var files: [MeasuredFile] = []
        for file in folder.files { files.append(try MeasuredFile(file.location, as: file.path)) }
        try check(model.inspection.externalFiles, of: model.path, among: files, in: path)
        return ReadVariant(
            name: name,
            files: files,
            entry: model.path,
            format: model.inspection.format,
            interface: model.inspection.interface,
            requires: model.inspection.requires
        )
    }

    /// Whether a file of a folder is a model by its name; all others are companions.
    private static func isModel(_ path: FilePath) -> Bool {
        let name = path.description.lowercased()
        return [".onnx", ".tflite", ".gguf", ".safetensors", ".mlmodel"].contains { name.hasSuffix($0) }
    }

    /// Every file of weights must be there, and as long as the model says.
    private static func check(
        _ external: [ExternalFile],
        of model: FilePath,
        among files: [MeasuredFile],
        in path: String
    ) throws(PublishingError) {
        let folder = model.segments.dropLast().map { $0 + "/" }.joined()
        for wanted in external {
            let file = files.first { $0.entry.path == FilePath("\(folder)\(wanted.path)") }
            guard let file else {
                throw .unpublishable(
                    "\(model) keeps weights in \(wanted.path), which is not in \(path); publish the folder that "
                        + "holds them all"
                )
            }
            guard file.entry.length >= wanted.requiredLength else {
                throw .unpublishable(
                    "\(wanted.path) has \(file.entry.length) bytes; \(model) needs \(wanted.requiredLength) of it"
                )
            }
        }
    }
}
