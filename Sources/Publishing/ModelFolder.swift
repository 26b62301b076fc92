import Durable
import Glibc
package import Names

/// The files of a path that somebody publishes, a single file or a folder.
package struct ModelFolder: Sendable {
    package struct File: Sendable {
        /// Where it lies, links resolved.
        package let location: String
        package let path: FilePath

        /// In bytes, when the folder was listed.
        package let length: UInt64
    }

    /// Sorted by path.
    package let files: [File]

    /// Names left out, with the reason, for the person who publishes.
    package let leftOut: [String]

    /// Lists what would be published.
    ///
    /// Links to files are followed inside the folder, and from a snapshot of a
    /// Hugging Face cache to the `blobs` beside it; one that leads anywhere else
    /// could publish what nobody meant to, so it is refused. What version control
    /// and caches leave behind is left out and named.
    ///
    /// - Throws: `PublishingError.unpublishable` for a name that may not stand in a manifest, a link that leads
    ///   out, too many files, or none.
    package init(_ path: String) throws(PublishingError) {
        var files: [File] = []
        var leftOut: [String] = []
        let (kind, length) = Self.kind(path)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        switch kind {
        case S_IFREG: files = [try Self.file(path, named: name, length)]
        case S_IFDIR:
            // A Core ML package is a folder that means nothing without its name.
            let isPackage = [".mlpackage", ".mlmodelc"].contains { name.lowercased().hasSuffix($0) }
            try Self.walk(path, below: isPackage ? name : "", depth: 0, into: &files, &leftOut)
            let allowed = try Self.placesOfFiles(in: path)
            for file in files where !allowed.contains(where: { file.location.hasPrefix($0) }) {
                throw .unpublishable(
                    "\(file.path) leads to \(file.location), outside of \(path); put the file itself there if it "
                        + "belongs to the model"
                )
            }
        default:
            throw .usage("\(path) is neither a file nor a folder; give the model's file or its folder")
        }
        guard !files.isEmpty else { throw .unpublishable("\(path) has no file to publish") }
        self.files = files.sorted { $0.path < $1.path }
        var names = PathNames()
        for file in self.files {
            guard let other = names.insert(file.path) else { continue }
            throw .unpublishable(
                "\(file.path) and \(other) would be one on a system that ignores case; rename one of them"
            )
        }
        self.leftOut = leftOut.sorted()
    }

    /// Where the files of a folder may really lie, with a slash at the end.
    private static func placesOfFiles(in folder: String) throws(PublishingError) -> [String] {
        let real = try resolved(folder)
        let snapshots = Durable.parent(of: real)
        guard snapshots.hasSuffix("/snapshots") else { return [real + "/"] }
        return [real + "/", Durable.parent(of: snapshots) + "/blobs/"]
    }

    private static func resolved(_ path: String) throws(PublishingError) -> String {
        guard let real = realpath(path, nil) else { throw .file(.system("resolve", path)) }
        defer { free(real) }
        return String(cString: real)
    }

    private static func walk(
        _ folder: String,
        below prefix: String,
        depth: Int,
        into files: inout [File],
        _ leftOut: inout [String]
    ) throws(PublishingError) {
        guard depth < 16 else { throw .unpublishable("\(folder) nests deeper than 16 folders") }
        let names: [String]
        do { names = try Durable.names(in: folder) } catch { throw .file(error) }
        for name in names.sorted() {
            let place = prefix.isEmpty ? name : "\(prefix)/\(name)"
            if isLeftOut(name) {
                leftOut.append(place)
                continue
            }
            let (kind, length) = Self.kind("\(folder)/\(name)")
            switch kind {
            case S_IFREG: files.append(try file("\(folder)/\(name)", named: place, length))
            case S_IFDIR:
                try walk("\(folder)/\(name)", below: place, depth: depth + 1, into: &files, &leftOut)
            default: throw .unpublishable("\(folder)/\(name) is neither a file nor a folder")
            }
            guard files.count <= Limits.filesInVariant else {
                throw .unpublishable("more than \(Limits.filesInVariant) files in \(folder)")
            }
        }
    }

    private static func isLeftOut(_ name: String) -> Bool {
        name.hasPrefix(".") || name == "__pycache__" || name == "node_modules"
    }

    private static func file(
        _ location: String,
        named name: String,
        _ length: UInt64
    ) throws(PublishingError) -> File {
        guard let path = FilePath(name) else {
            throw .unpublishable(
                "‘\(Shown.short(name))’ cannot be the name of a published file: expected up to 16 plain segments "
                    + "in NFC, without control characters, backslash, colon, or a dot or space at the end; rename it"
            )
        }
        return File(location: try resolved(location), path: path, length: length)
    }

    /// The kind of what `path` leads to, following links, and its length; 0 for nothing.
    private static func kind(_ path: String) -> (kind: mode_t, length: UInt64) {
        var status = stat()
        guard stat(path, &status) == 0 else { return (0, 0) }
        return (status.st_mode & S_IFMT, UInt64(clamping: status.st_size))
    }
}
