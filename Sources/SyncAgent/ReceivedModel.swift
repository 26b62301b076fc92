import Blocking
import Glibc
import Manifest
import Names

/// The check that received files are what their manifest says: the interface is read again, from the files.
struct ReceivedModel {
    let content: Variant
    let manifest: ModelManifest

    /// By path, the verified file.
    let locations: [FilePath: String]

    private var subject: String { "\(manifest.model) \(manifest.version), \(content.entry)" }

    /// Takes the files of `content`, each found by its digest.
    init(_ content: Variant, of manifest: ModelManifest, sources: [Digest: String]) {
        self.content = content
        self.manifest = manifest
        var locations: [FilePath: String] = [:]
        for file in content.files { locations[file.path] = sources[file.sha256] }
        self.locations = locations
    }

    /// Compares the entry's own interface and requirements with the manifest's.
    ///
    /// What a person declares (labels, pre- and post-processing, tokenizers) is
    /// in no file and therefore not compared.
    ///
    /// - Parameter program: What reads the files; this process when there is none.
    /// - Throws: `SyncError` of kind `refused`, saying what differs.
    func check(by program: ReaderProgram?) async throws(SyncError) {
        var files: [ReadingRequest.File] = []
        for file in content.files {
            guard let location = locations[file.path] else {
                throw SyncError(.refused, "\(subject): \(file.path) was not received")
            }
            files.append(ReadingRequest.File(path: file.path, length: file.length, location: location))
        }
        let request = ReadingRequest(
            format: content.format,
            entry: content.entry,
            files: files,
            parent: Int64(getpid())
        )
        let subject = subject
        let facts: Reading.Facts
        if let program {
            facts = try await program.facts(request, subject)
        } else {
            facts = try await BlockingPool.shared.run { () throws(SyncError) in
                try request.readingHere().facts(subject)
            }
        }
        try compare(facts)
    }

    func compare(_ found: Reading.Facts) throws(SyncError) {
        guard found.entry == content.entry, found.format == content.format else {
            throw refusal("the files are \(found.format.rawValue) with the entry \(found.entry)")
        }
        guard found.folders == content.folders else {
            throw refusal("the model's empty folders are not those of the signed manifest")
        }
        let signed = manifest.interface(of: content)
        let real = found.interface
        if real.isDeclared {
            guard signed.isDeclared else {
                throw refusal(
                    "\(content.format.rawValue) files state no interface, and the manifest does not mark its own as "
                        + "declared"
                )
            }
            guard signed.tensors == real.tensors, signed.network == nil || signed.network == real.network,
                real.tokenizers.allSatisfy(signed.tokenizers.contains)
            else {
                throw refusal("the file's own tensors or tokenizers are not those of the signed manifest")
            }
        } else {
            guard signed.inputs == real.inputs, signed.outputs == real.outputs, signed.states == real.states,
                signed.hasFunctions(of: real), signed.hasLabels(of: real), signed.hasPreprocessing(of: real)
            else { throw refusal("the file's own inputs and outputs are not those of the signed manifest") }
        }
        let wanted = content.requires
        guard wanted.irVersion == found.requires.irVersion, wanted.opsets == found.requires.opsets,
            found.isMet(bySpecification: wanted.specificationVersion)
        else { throw refusal("the file needs another runtime than the signed manifest says") }
    }

    private func refusal(_ reason: String) -> SyncError {
        SyncError(code: .interface, "\(subject): \(reason); the publisher must publish a new version")
    }
}
