import Durable
import Glibc
package import Names

/// The files of a path that somebody publishes, a single file or a folder.
package struct ModelFolder: Sendable {
    package struct File: Sendable {
        /// Where it lies, links resolved.
        package let location: String
        package let path: FilePath

        /// When the folder was listed.
        package let state: FileState

        /// In bytes.
        package var length: UInt64 { state.length }
    }

    /// Sorted by path.
    package let files: [File]

    /// Whether the path leads to a file, not to a folder with one.
    let isSingleFile: Bool

    /// Folders in which there is nothing, or nothing but what is left out by itself; by their path.
    let emptyFolders: Set<String>

    /// Names left out, for the person who publishes; a folder with all in it ends in a slash.
    package let leftOut: [String]

    /// The patterns by which something was left out.
    let usedExclusions: Set<String>

    /// What is found on the way through a folder.
    private struct Listing {
        let exclusions: FileExclusions
        var files: [File] = []
        var emptyFolders: Set<String> = []
        var leftOut: [String] = []
        var usedExclusions: Set<String> = []
    }

    /// Lists what would be published.
    ///
    /// Links to files are followed inside the folder, and from a snapshot of a
    /// Hugging Face cache to the `blobs` beside it; one that leads anywhere else
    /// could publish what nobody meant to, so it is refused. What version control
    /// and caches leave behind is left out and named.
    ///
    /// So is what the person leaves out, of which nothing is looked at.
    ///
    /// - Parameters:
    ///   - path: A file or a folder.
    ///   - exclusions: What of a folder is left out.
    /// - Throws: `PublishingError.unpublishable` for a name that may not stand in a manifest, a link that leads
    ///   out, too many files, or none.
    package init(
        _ path: String,
        without exclusions: FileExclusions = FileExclusions()
    ) throws(PublishingError) {
        var listing = Listing(exclusions: exclusions)
        let (kind, state) = Self.kind(path)
        isSingleFile = kind == S_IFREG
        let name = path.split(separator: "/").last.map(String.init) ?? path
        switch kind {
        case S_IFREG: listing.files = [try Self.file(path, named: name, state)]
        case S_IFDIR:
            // A Core ML package is a folder that means nothing without its name.
            let isPackage = [".mlpackage", ".mlmodelc"].contains { name.lowercased().hasSuffix($0) }
            try Self.walk(path, below: isPackage ? name : "", inside: [state], into: &listing)
            let allowed = try Self.placesOfFiles(in: path)
            for file in listing.files where !allowed.contains(where: { file.location.hasPrefix($0) }) {
                throw .unpublishable(
                    "\(file.path) leads to \(file.location), outside of \(path); put the file itself there if it "
                        + "belongs to the model"
                )
            }
        default:
            if let target = Self.brokenLink(path) { throw .usage("\(path) is a link to \(target)") }
            throw .usage("\(path) is neither a file nor a folder; give the model's file or its folder")
        }
        usedExclusions = listing.usedExclusions
        guard !listing.files.isEmpty else {
            let rest = usedExclusions.isEmpty ? "" : " but what --exclude leaves out"
            throw .unpublishable("\(path) has no file to publish\(rest)")
        }
        files = listing.files.sorted { $0.path < $1.path }
        var names = PathNames()
        for file in files {
            guard let other = names.insert(file.path) else { continue }
            throw .unpublishable(
                "\(file.path) and \(other) would be one on a system that ignores case; rename one of them"
            )
        }
        emptyFolders = listing.emptyFolders
        leftOut = listing.leftOut.sorted()
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
        inside folders: [FileState],
        into listing: inout Listing
    ) throws(PublishingError) {
        guard folders.count <= 16 else { throw .unpublishable("\(folder) nests deeper than 16 folders") }
        try refuseCache(folder)
        let names: [String]
        do { names = try Durable.names(in: folder) } catch { throw .file(error) }
        if names.allSatisfy(isLeftOut) { listing.emptyFolders.insert(prefix) }
        for name in names.sorted() {
            let place = prefix.isEmpty ? name : "\(prefix)/\(name)"
            let (kind, state) = Self.kind("\(folder)/\(name)")
            let exclusions = listing.exclusions.matching(place)
            listing.usedExclusions.formUnion(exclusions)
            if isLeftOut(name) || !exclusions.isEmpty {
                listing.leftOut.append(kind == S_IFDIR ? "\(place)/" : place)
                continue
            }
            switch kind {
            case S_IFREG: listing.files.append(try file("\(folder)/\(name)", named: place, state))
            case S_IFDIR:
                guard !folders.contains(where: { $0.isSameFile(as: state) }) else {
                    throw .unpublishable(
                        "\(folder)/\(name) is a link that leads back to itself; take the link out"
                    )
                }
                try walk("\(folder)/\(name)", below: place, inside: folders + [state], into: &listing)
            default:
                if let target = brokenLink("\(folder)/\(name)") {
                    throw .unpublishable(
                        "\(folder)/\(name) is a link to \(target); put the file there, or take the link out"
                    )
                }
                // The system's names are bytes; of one that is no text another text was made, which names nothing.
                if name.unicodeScalars.contains("\u{FFFD}"), kind == 0 {
                    throw .unpublishable(
                        "the name ‘\(Shown.short(name))’ in \(folder) is not UTF-8, so it cannot be the name of a "
                            + "published file; rename the file"
                    )
                }
                throw .unpublishable("\(folder)/\(name) is neither a file nor a folder")
            }
            guard listing.files.count <= Limits.filesInVariant else {
                throw .unpublishable("more than \(Limits.filesInVariant) files in \(folder)")
            }
        }
    }

    /// Where a link leads that leads nowhere, and why it does; `nil` for anything else.
    private static func brokenLink(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) != 0 else { return nil }
        let leadsBack = errno == ELOOP
        guard let target = (try? Durable.destination(ofLink: path)).flatMap({ $0 }) else { return nil }
        return "\(target), which " + (leadsBack ? "leads back to itself" : "is not there")
    }

    /// Refuses a whole Hugging Face cache of a model, in which a file lies once for each snapshot and once in `blobs`.
    private static func refuseCache(_ folder: String) throws(PublishingError) {
        let snapshots = folder + "/snapshots"
        guard kind(folder + "/blobs").kind == S_IFDIR, kind(snapshots).kind == S_IFDIR else { return }
        let names: [String]
        do { names = try Durable.names(in: snapshots) } catch { throw .file(error) }
        let revisions = names.sorted().prefix(4).map { "\(snapshots)/\($0)" }
        throw .unpublishable(
            "\(folder) is a cache with all snapshots of a model, in which its files lie more than once; give the "
                + "snapshot itself: \(revisions.isEmpty ? snapshots : revisions.joined(separator: ", or "))"
        )
    }

    private static func isLeftOut(_ name: String) -> Bool {
        name.hasPrefix(".") || name == "__pycache__" || name == "node_modules"
    }

    private static func file(
        _ location: String,
        named name: String,
        _ state: FileState
    ) throws(PublishingError) -> File {
        guard let path = FilePath(name) else {
            if let composed = FilePath(composing: name) {
                throw .unpublishable(
                    "the name ‘\(Shown.short(name))’ is decomposed (NFD): its accents are characters of their own, as "
                        + "macOS once wrote them; rename it to ‘\(Shown.short("\(composed)"))’, as ‘convmv -r -f utf-8 -t "
                        + "utf-8 --nfc --notest FOLDER’ does for a whole folder"
                )
            }
            throw .unpublishable(
                "‘\(Shown.short(name))’ cannot be the name of a published file: expected up to 16 plain segments "
                    + "in NFC, without control characters, backslash, colon, or a dot or space at the end; rename it"
            )
        }
        return File(location: try resolved(location), path: path, state: state)
    }

    /// The kind of what `path` leads to, following links, and its state; 0 for nothing.
    private static func kind(_ path: String) -> (kind: mode_t, state: FileState) {
        var status = stat()
        guard stat(path, &status) == 0 else { return (0, FileState(stat())) }
        return (status.st_mode & S_IFMT, FileState(status))
    }
}

/// By what is seen that a file was replaced or written to, through whichever of its names.
///
/// Another hard link is another name and no other file: what is published is
/// the bytes, so that how many names they have does not matter.
package struct FileState: Equatable, Sendable {
    let length: UInt64

    /// How many names it has; not compared, since another name changes no byte.
    var names: UInt64 { links.count }
    private let links: Links
    private let device: dev_t
    private let number: ino_t
    private let seconds: Int
    private let nanoseconds: Int

    init(_ status: stat) {
        length = UInt64(clamping: status.st_size)
        links = Links(count: UInt64(clamping: status.st_nlink))
        device = status.st_dev
        number = status.st_ino
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }

    /// Whether it is the same file or folder, whatever was done to it since.
    func isSameFile(as other: Self) -> Bool { device == other.device && number == other.number }

    private struct Links: Sendable, Equatable {
        let count: UInt64

        static func == (_: Self, _: Self) -> Bool { true }
    }
}
