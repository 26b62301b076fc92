import CLinux
import Durable
import Glibc
package import Manifest
package import Names
import Signing

/// Putting verified files in place as a version directory.
///
/// The directory is built under a hidden name beside its place, made read-only,
/// put on the disk file by file and directory by directory, and gets its name
/// by one rename. So a version directory is whole or it is not there.
extension DeviceDirectory {
    /// Whether the version is in place, its files in the state that `install` left them in.
    package func isInstalled(_ identity: VersionIdentity) throws(GenerationError) -> Bool {
        do {
            try InstalledVersion(identity, in: self).checkFiles(.state)
            return true
        } catch {
            switch error {
            case .damaged, .unfit: return false
            case .disk, .missing, .nothingActive, .notActive, .condemned, .linked: throw error
            }
        }
    }

    /// The manifest of a version that is in place.
    package func manifest(of identity: VersionIdentity) throws(GenerationError) -> ModelManifest {
        try InstalledVersion(identity, in: self).manifest
    }

    /// The files of a version that are in place and whole, although others of it are not; reads every byte of them.
    ///
    /// - Returns: A path for each digest.
    package func wholeFiles(of content: Variant, _ identity: VersionIdentity) -> [Digest: String] {
        var whole: [Digest: String] = [:]
        for file in content.files {
            let path = "\(path)/\(identity.relativePath)/\(file.path)"
            guard let state = try? FileState(path), state.isRegular, state.length == file.length,
                (try? InstalledVersion.checkBytes(of: file, at: path)) != nil
            else { continue }
            whole[file.sha256] = path
        }
        return whole
    }

    /// The regular files of a version that are in place, whatever is in them.
    ///
    /// - Returns: Their paths on this device.
    package func files(of content: Variant, _ identity: VersionIdentity) -> [FilePath: String] {
        var found: [FilePath: String] = [:]
        for file in content.files {
            let path = "\(path)/\(identity.relativePath)/\(file.path)"
            if let state = try? FileState(path), state.isRegular { found[file.path] = path }
        }
        return found
    }

    /// Whether a file of this directory can have a second name.
    package func hasHardLinks() -> Bool {
        let (one, other) = ("\(incomingPath)/.link-probe", "\(incomingPath)/.link-probe-2")
        defer {
            unlink(one)
            unlink(other)
        }
        unlink(other)
        close(clinux_open(one, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        return link(one, other) == 0
    }

    /// Installs a version, or repairs one that is damaged.
    ///
    /// - Parameters:
    ///   - identity: Which.
    ///   - manifest: The manifest's bytes, verified by the caller.
    ///   - sources: For each digest, a file that the caller verified. One in
    ///     `incoming/` is linked, not moved, so that a crash loses no download, and
    ///     is the caller's to remove; one of another version is copied.
    /// - Throws: `GenerationError`; a version that was in place before is untouched then.
    package func install(
        _ identity: VersionIdentity,
        manifest: [UInt8],
        sources: [Digest: String]
    ) throws(GenerationError) {
        guard SHA256.digest(of: manifest) == identity.manifest else {
            throw .unfit(reason: "the manifest of \(identity.model) \(identity.version) has another digest")
        }
        let (_, content) = try InstalledVersion.content(of: manifest, identity)
        let directory = "\(path)/\(identity.relativePath)"
        let parent = Durable.parent(of: directory)
        let random = String(UInt64.random(in: 0 ... .max), radix: 16)
        let stage = "\(parent)/.staging-\(random)"
        let alone = try onDisk { () throws(DurableError) in
            try Durable.makeDirectory(Durable.parent(of: identity.relativePath), below: path)
            try Durable.makeDirectory(stage)
            return try ownFiles(of: sources)
        }
        let lease = try DirectoryLease.shared(stage)
        defer { withExtendedLifetime(lease) {} }
        do throws(GenerationError) {
            for file in content.files {
                guard let source = sources[file.sha256] else {
                    throw GenerationError.unfit(
                        reason: "no verified file for \(file.path) of \(identity.model)"
                    )
                }
                try place(source, as: file, in: stage, content.format, mayLink: alone.contains(source))
                try onDisk { () throws(DurableError) in try CrashPoint.reached("stage.files", stage) }
            }
            try onDisk { () throws(DurableError) in
                for folder in content.folders { try Durable.makeDirectory("\(stage)/\(folder)") }
                try Self.sealDirectories(of: content, in: stage)
                let record = "\(path)/\(identity.manifestRelativePath)"
                try Durable.makeWay(at: record)
                try Durable.writeAtomically(record, manifest, mode: 0o444)
                try CrashPoint.reached("stage.version", stage)
                try Durable.exchange(stage, directory)
                try CrashPoint.reached("stage.renamed", directory)
                try Durable.synchronizeDirectory(parent)
            }
        } catch {
            try? Durable.removeTree(stage)
            throw error
        }
        // What an exchange left under the hidden name was damaged.
        try onDisk { () throws(DurableError) in try Durable.removeTree(stage) }
    }

    /// The sources in `incoming/` that have no second name, by which others could change what is active.
    private func ownFiles(of sources: [Digest: String]) throws(DurableError) -> Set<String> {
        var own: Set<String> = []
        for source in sources.values where source.hasPrefix(incomingPath + "/") {
            if try Durable.isOnlyName(of: source) { own.insert(source) }
        }
        return own
    }

    /// Links a source into the stage, or copies it where links do not go.
    ///
    /// A file of another version is shared block by block where the file system
    /// can, else by a second name, else copied. Never by a second name for ONNX,
    /// whose runtimes refuse external data that has one.
    private func place(
        _ source: String,
        as file: ManifestFile,
        in stage: String,
        _ format: ModelFormat,
        mayLink: Bool
    ) throws(GenerationError) {
        let path = "\(stage)/\(file.path)"
        var isLinked = false
        let isSealed = try FileState(source)?.isSealed(holding: file.sha256) ?? false
        try onDisk { () throws(DurableError) in
            if file.path.segments.count > 1 { try Durable.makeDirectory(Durable.parent(of: path)) }
            if mayLink, try Self.linked(source, path) {
                isLinked = true
                return try FileState.seal(path, holding: file.sha256)
            }
            let isCloned = try Self.cloned(source, to: path)
            // Sealed as it is: sealing again might hide a damage that somebody else has found.
            let isIncoming = source.hasPrefix(incomingPath + "/")
            if !isCloned, isSealed, !isIncoming, format != .onnx, try Self.linked(source, path) { return }
            if !isCloned { try Self.copy(source, to: path) }
            try FileState.seal(path, holding: file.sha256)
        }
        // A link is the verified file itself; of another version's file only the state was looked at.
        if !isLinked { try InstalledVersion.checkBytes(of: file, at: path) }
        guard let state = try FileState(path), state.isRegular, state.length == file.length else {
            throw .unfit(reason: "\(source) is not the \(file.length) bytes of \(file.path)")
        }
    }

    /// Whether the file has a second name now.
    private static func linked(_ source: String, _ path: String) throws(DurableError) -> Bool {
        try Disk.attempt(.addName(path, of: source)) { link(source, path) } == 0
    }

    /// Whether the file system let both files have the same blocks.
    private static func cloned(_ source: String, to path: String) throws(DurableError) -> Bool {
        let from = try FileSource(source)
        let to = try created(path)
        defer { close(to) }
        if clinux_reflink(to, from.descriptor) == 0 { return true }
        try Durable.removeFile(path)
        return false
    }

    private static func created(_ path: String) throws(DurableError) -> Int32 {
        var to: Int32 = -1
        try Disk.perform(.makeFile(path), "create", path) {
            to = clinux_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            return min(to, 0)
        }
        return to
    }

    private static func copy(_ source: String, to path: String) throws(DurableError) {
        let from = try FileSource(source)
        let to = try created(path)
        defer { close(to) }
        var offset: UInt64 = 0
        while offset < from.length {
            let bytes: [UInt8]
            do { bytes = try from.bytes(at: offset, count: Int(min(1 << 20, from.length - offset))) } catch {
                throw .system("read", source)
            }
            try Durable.writeAll(bytes, to: to, path)
            offset += UInt64(bytes.count)
        }
    }

    /// Makes the directories read-only and puts them on the disk, the deepest first.
    private static func sealDirectories(of content: Variant, in stage: String) throws(DurableError) {
        var folders: Set<String> = [stage]
        let holding = content.files.map { $0.path.segments.dropLast() }
        for segments in holding + content.folders.map({ $0.segments[...] }) {
            for count in 0...segments.count {
                folders.insert(([stage] + segments.prefix(count)).joined(separator: "/"))
            }
        }
        for folder in folders.sorted(by: { $0.utf8.count > $1.utf8.count }) {
            guard chmod(folder, 0o555) == 0 else { throw .system("set the mode of", folder) }
            try Durable.synchronizeDirectory(folder)
        }
    }
}
