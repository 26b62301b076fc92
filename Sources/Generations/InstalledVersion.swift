import Durable
import Manifest
import Names
import Signing

/// A version directory and the manifest beside it, for checking one against the other.
struct InstalledVersion {
    /// How closely files are looked at.
    enum Depth {
        /// Kind, length and time; bytes only where the time is not that of the installation.
        case state

        /// Every byte.
        case bytes
    }

    let identity: VersionIdentity
    let directory: String
    let manifestBytes: [UInt8]
    let manifest: ModelManifest
    let content: Variant

    /// Reads and checks the manifest; files are looked at by `checkFiles`.
    init(_ identity: VersionIdentity, in device: DeviceDirectory) throws(GenerationError) {
        let file = "\(device.path)/\(identity.manifestRelativePath)"
        let expected = "the manifest of \(identity.model)"
        let found: [UInt8]?
        do throws(GenerationError) { found = try device.contents(file, maximum: Limits.manifest) } catch {
            guard case .disk(let reason) = error, reason.isOfContent || reason.isObstructed else {
                throw error
            }
            throw .damaged(path: file, expected: expected, found: "something else (\(reason))")
        }
        guard let bytes = found else { throw .damaged(path: file, expected: expected, found: "nothing") }
        let digest = SHA256.digest(of: bytes)
        guard digest == identity.manifest else {
            throw .damaged(path: file, expected: "SHA-256 \(identity.manifest)", found: "\(digest)")
        }
        let (manifest, content) = try Self.content(of: bytes, identity)
        self.init(identity, directory: "\(device.path)/\(identity.relativePath)", bytes, manifest, content)
    }

    init(
        _ identity: VersionIdentity,
        directory: String,
        _ manifestBytes: [UInt8],
        _ manifest: ModelManifest,
        _ content: Variant
    ) {
        self.identity = identity
        self.directory = directory
        self.manifestBytes = manifestBytes
        self.manifest = manifest
        self.content = content
    }

    /// The manifest in `bytes` and the variant that `identity` names.
    static func content(
        of bytes: [UInt8],
        _ identity: VersionIdentity
    ) throws(GenerationError) -> (ModelManifest, Variant) {
        let manifest: ModelManifest
        do {
            let path = ModelManifest.targetPath(model: identity.model, version: identity.version)
            manifest = try ModelManifest(canonical: bytes, at: path)
        } catch {
            throw .unfit(reason: "the manifest of \(identity.model) \(identity.version) is refused: \(error)")
        }
        guard let content = manifest[identity.variant] else {
            throw .unfit(
                reason:
                    "the manifest of \(identity.model) \(identity.version) has no variant \(identity.variant)"
            )
        }
        return (manifest, content)
    }

    /// Compares the files with the manifest, and looks that there is nothing else.
    ///
    /// A file whose bytes are wrong under the time of the installation gets
    /// another time, where that can be done: so everybody who opens it from then
    /// on finds out, and the next sync puts it right.
    ///
    /// - Returns: The number of bytes read.
    @discardableResult
    func checkFiles(_ depth: Depth) throws(GenerationError) -> UInt64 {
        var read: UInt64 = 0
        for file in content.files {
            let path = "\(directory)/\(file.path)"
            guard let state = try FileState(path) else {
                throw .damaged(path: path, expected: "\(file.length) bytes", found: "nothing")
            }
            guard state.isRegular else {
                throw .damaged(path: path, expected: "a file", found: "something else")
            }
            guard state.length == file.length else {
                throw .damaged(path: path, expected: "\(file.length) bytes", found: "\(state.length) bytes")
            }
            if depth == .bytes || state.modified != FileState.sealDate(of: file.sha256) {
                do throws(GenerationError) { read += try Self.checkBytes(of: file, at: path) } catch {
                    FileState.unseal(path)
                    throw error
                }
            }
        }
        for folder in content.folders {
            let path = "\(directory)/\(folder)"
            let kind = try onDisk { () throws(DurableError) in try Durable.kind(of: path) }
            guard kind == .directory else {
                let found = kind == nil ? "nothing" : "something else"
                throw .damaged(path: path, expected: "a folder", found: found)
            }
        }
        try checkNothingElse()
        return read
    }

    @discardableResult
    static func checkBytes(of file: ManifestFile, at path: String) throws(GenerationError) -> UInt64 {
        let source = try onDisk { () throws(DurableError) in try FileSource(path) }
        let digest: Digest
        do { digest = try SHA256.digest(ofFile: source.descriptor) } catch {
            throw .damaged(path: path, expected: "readable bytes", found: error.description)
        }
        guard digest == file.sha256 else {
            throw .damaged(path: path, expected: "SHA-256 \(file.sha256)", found: "\(digest)")
        }
        return source.length
    }

    private func checkNothingElse() throws(GenerationError) {
        var expected: Set<String> = []
        for segments in content.files.map(\.path.segments) + content.folders.map(\.segments) {
            for count in 1...segments.count { expected.insert(segments.prefix(count).joined(separator: "/")) }
        }
        var folders = [""]
        while let folder = folders.popLast() {
            let path = folder.isEmpty ? directory : "\(directory)/\(folder)"
            for name in try onDisk({ () throws(DurableError) in try Durable.names(in: path) }) {
                let relative = folder.isEmpty ? name : "\(folder)/\(name)"
                guard expected.contains(relative) else {
                    throw .damaged(
                        path: "\(path)/\(name)",
                        expected: "nothing",
                        found: "a file nobody signed"
                    )
                }
                let kind = try onDisk { () throws(DurableError) in try Durable.kind(of: "\(path)/\(name)") }
                if kind == .directory { folders.append(relative) }
            }
        }
    }
}
