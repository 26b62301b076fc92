import Manifest
import Names
import RegistryAPI
import Signing
import Trust

/// The documents that a commit brings, and what they must obey.
///
/// Lengths and digests are those that the signed roles list, so a document
/// that passes is vouched for; that it is also well formed, and is what its
/// path says, is checked here because a signer may be wrong or hostile.
struct DocumentRules {
    private let view: any RegistryView
    private var waiting: [TargetPath: [UInt8]] = [:]
    private var repeated: TargetPath?

    /// What the commit adds.
    private(set) var documents: [TargetDocument] = []
    private(set) var versions: [PublishedVersion] = []
    private(set) var blobs: [Digest: Set<Digest>] = [:]

    /// Files whose lists of blocks nobody here has compared with the bytes yet.
    private(set) var unproven: [UnprovenFile] = []

    init(request: CommitRequest, view: any RegistryView) {
        self.view = view
        for target in request.targets {
            let path = TargetPath(target.path)
            if waiting.updateValue(target.content, forKey: path) != nil { repeated = path }
        }
    }

    /// Takes every document that `role` lists and did not list before.
    mutating func take(
        _ document: TargetsDocument,
        of role: SealiftRole,
        replacing previous: TargetsDocument?
    ) throws(RegistryError) {
        for (path, file) in document.targets.sorted(by: { $0.key < $1.key }) {
            if previous?.targets[path] == file {
                // Posted again without need, which does no harm.
                if let again = waiting[path], file.describes(again) { waiting[path] = nil }
            } else {
                try take(path, file, of: role)
            }
        }
    }

    private mutating func take(
        _ path: TargetPath,
        _ file: TargetFile,
        of role: SealiftRole
    ) throws(RegistryError) {
        guard let sha256 = file.sha256 else {
            throw .badDocument(path: "\(path)", reason: "it is listed without SHA-256")
        }
        if let stored = try view.document("\(path)", sha256) {
            guard file.describes(stored.bytes) else {
                throw .badDocument(path: "\(path)", reason: "the listed length or digests are not its own")
            }
            if waiting[path] == stored.bytes { waiting[path] = nil }
            return
        }
        guard let content = waiting[path] else { throw .missingDocument(path: "\(path)", digest: sha256) }
        guard file.describes(content) else {
            throw .badDocument(
                path: "\(path)",
                reason: "role \(role) lists \(file.length) bytes with SHA-256 \(sha256); posted were "
                    + "\(content.count) bytes with \(SHA256.digest(of: content))"
            )
        }
        waiting[path] = nil
        try check(content, at: "\(path)", of: role, digest: sha256)
        documents.append(TargetDocument(path: "\(path)", sha256: sha256, bytes: content))
    }

    func checkNothingIsLeft() throws(RegistryError) {
        if let path = repeated ?? waiting.keys.min() { throw .unlistedDocument(path: "\(path)") }
    }

    /// The document behind a listed path, brought by this commit or stored before.
    func content(_ path: TargetPath, _ file: TargetFile) throws(RegistryError) -> [UInt8]? {
        guard let sha256 = file.sha256 else { return nil }
        if let brought = documents.first(where: { $0.sha256 == sha256 && TargetPath($0.path) == path }) {
            return brought.bytes
        }
        return try view.document("\(path)", sha256)?.bytes
    }

    private mutating func check(
        _ content: [UInt8],
        at path: String,
        of role: SealiftRole,
        digest: Digest
    ) throws(RegistryError) {
        do {
            switch role {
            case .release:
                let manifest = try ModelManifest(canonical: content, at: path)
                try release(manifest, digest: digest)
            case .live: _ = try LiveDocument(canonical: content, at: path)
            case .targets: _ = try SettingsDocument(canonical: content)
            case .namespace, .hold: break
            }
        } catch let error as RegistryError {
            throw error
        } catch {
            throw .badDocument(path: path, reason: "\(error)")
        }
    }

    private mutating func release(_ manifest: ModelManifest, digest: Digest) throws(RegistryError) {
        if let published = try view.manifest(manifest.model, manifest.version) {
            throw .republished(
                model: manifest.model,
                version: manifest.version,
                published: published,
                posted: digest
            )
        }
        versions.append(
            PublishedVersion(model: manifest.model, version: manifest.version, manifest: digest)
        )
        for blob in manifest.blobs { try checkPresent(blob, of: manifest) }
        blobs[digest] = Set(manifest.blobs.map(\.sha256))
        for file in manifest.variants.flatMap(\.files) {
            guard let blocks = file.blocks else { continue }
            let proof = BlockProof(file: file.sha256, list: blocks.list.sha256, blockSize: blocks.size)
            guard try !view.hasBlockProof(proof) else { continue }
            unproven.append(
                UnprovenFile(path: "\(manifest.targetPath): \(file.path)", length: file.length, proof: proof)
            )
        }
    }

    private func checkPresent(_ blob: BlobReference, of manifest: ModelManifest) throws(RegistryError) {
        guard let stored = try view.blobLength(blob.sha256) else {
            throw .missingBlob(digest: blob.sha256, path: manifest.targetPath)
        }
        guard stored == blob.length else {
            throw .blobLength(
                digest: blob.sha256,
                path: manifest.targetPath,
                listed: blob.length,
                stored: stored
            )
        }
    }
}

/// A file of a manifest whose list of blocks has still to be compared with its bytes.
struct UnprovenFile {
    /// For messages.
    let path: String
    let length: UInt64
    let proof: BlockProof
}
