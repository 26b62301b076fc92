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
        var locations: [FilePath: String] = [:]
        for signed in content.files { locations[signed.path] = file(signed) }
        guard locations[content.entry] != nil else {
            throw SyncError(.refused, "\(subject): the entry is not among the files")
        }
        let received = content.files.map { VariantFiles.File(path: $0.path, length: $0.length) }
        let files = VariantFiles(received) { (path) throws(FormatError) in
            do throws(DurableError) { return try FileSource(locations[path] ?? "") } catch {
                throw .unreadable(.unreadable(code: 5))
            }
        }
        let found: Inspection
        do throws(VariantError) {
            found = try ModelFile.inspect(files, declared: content.format, entry: content.entry).inspection
        } catch {
            if case .unreadable = error.error { throw SyncError(.temporary, "\(subject): \(error)") }
            throw SyncError(code: .interface, "\(subject): \(error)")
        }
        try compare(found, with: content, manifest, subject)
    }

    private static func compare(
        _ found: Inspection,
        with content: Variant,
        _ manifest: ModelManifest,
        _ subject: String
    ) throws(SyncError) {
        let signed = manifest.interface(of: content)
        let real = found.interface
        if real.isDeclared {
            guard signed.isDeclared else {
                throw SyncError(
                    code: .interface,
                    "\(subject): \(content.format.rawValue) files state no interface, and the manifest does not "
                        + "mark its own as declared; the publisher must publish a new version"
                )
            }
            guard signed.tensors == real.tensors, real.tokenizers.allSatisfy(signed.tokenizers.contains)
            else {
                throw SyncError(
                    code: .interface,
                    "\(subject): the file's own tensors or tokenizers are not those of the signed manifest; "
                        + "the publisher must publish a new version"
                )
            }
        } else {
            guard signed.inputs == real.inputs, signed.outputs == real.outputs, signed.states == real.states,
                signed.functions == real.functions, signed.defaultFunction == real.defaultFunction,
                real.labels == nil || signed.labels == real.labels
            else {
                throw SyncError(
                    code: .interface,
                    "\(subject): the file's own inputs and outputs are not those of the signed manifest; "
                        + "the publisher must publish a new version"
                )
            }
        }
        let wanted = content.requires
        guard wanted.irVersion == found.requires.irVersion, wanted.opsets == found.requires.opsets,
            wanted.specificationVersion == found.requires.specificationVersion
        else {
            throw SyncError(
                code: .interface,
                "\(subject): the file needs another runtime than the signed manifest says; "
                    + "the publisher must publish a new version"
            )
        }
    }
}
