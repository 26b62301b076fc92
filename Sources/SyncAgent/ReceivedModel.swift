import Durable
import Manifest
import ModelFormats
import Names

/// The check that received files are what their manifest says: the interface is read again, from the files.
enum ReceivedModel {
    /// Compares the entry's own interface and requirements with the manifest's.
    ///
    /// What a person declares (labels, pre- and post-processing, tokenizers) is
    /// in no file and therefore not compared.
    ///
    /// - Parameters:
    ///   - content: The variant that was received.
    ///   - manifest: Its manifest.
    ///   - file: For each path, the verified file.
    /// - Throws: `SyncError` of kind `refused`, saying what differs.
    static func check(
        _ content: Variant,
        of manifest: ModelManifest,
        file: (ManifestFile) -> String?
    ) throws(SyncError) {
        let subject = "\(manifest.model) \(manifest.version), \(content.entry)"
        guard let entry = content.files.first(where: { $0.path == content.entry }), let path = file(entry)
        else {
            throw SyncError(.refused, "\(subject): the entry is not among the files")
        }
        let source: FileSource
        do throws(DurableError) { source = try FileSource(path) } catch { throw SyncError(error) }
        let found: Inspection
        do throws(FormatError) {
            let name = content.entry.segments.last ?? ""
            found = try ModelFile.inspect(source: source, name: name, declared: content.format)
        } catch {
            if case .unreadable = error { throw SyncError(.temporary, "\(subject): \(error)") }
            throw SyncError(.refused, "\(subject): \(error)")
        }
        try compare(found, with: content, manifest, subject)
        try checkExternalFiles(found, of: content, subject)
    }

    private static func compare(
        _ found: Inspection,
        with content: Variant,
        _ manifest: ModelManifest,
        _ subject: String
    ) throws(SyncError) {
        let signed = manifest.interface(of: content)
        if found.interface.isDeclared {
            guard signed.isDeclared else {
                throw SyncError(
                    .refused,
                    "\(subject): this program cannot read the interface of \(content.format.rawValue) files, "
                        + "and the manifest does not mark its own as declared; update this program"
                )
            }
            return
        }
        guard signed.inputs == found.interface.inputs, signed.outputs == found.interface.outputs,
            signed.states == found.interface.states, signed.functions == found.interface.functions
        else {
            throw SyncError(
                .refused,
                "\(subject): the file's own inputs and outputs are not those of the signed manifest; "
                    + "the publisher must publish a new version"
            )
        }
        let wanted = content.requires
        guard wanted.irVersion == found.requires.irVersion, wanted.opsets == found.requires.opsets,
            wanted.specificationVersion == found.requires.specificationVersion
        else {
            throw SyncError(
                .refused,
                "\(subject): the file needs another runtime than the signed manifest says; "
                    + "the publisher must publish a new version"
            )
        }
    }

    /// Every file that the entry refers to must be signed too, and long enough.
    private static func checkExternalFiles(
        _ found: Inspection,
        of content: Variant,
        _ subject: String
    ) throws(SyncError) {
        let folder = content.entry.segments.dropLast()
        for external in found.externalFiles {
            let path = (folder + external.path.segments).joined(separator: "/")
            let signed = content.files.first { $0.path.description == path }
            guard let signed, signed.length >= external.requiredLength else {
                throw SyncError(
                    .refused,
                    "\(subject): it needs \(external.requiredLength) bytes in \(path), and the signed manifest has "
                        + (signed.map { "\($0.length)" } ?? "no such file")
                )
            }
        }
    }
}
