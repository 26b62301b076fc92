import Durable
import Names

/// The note by which an ‘init’ that was stopped is told from a registry, and what it left is cleared away.
///
/// Written before the first file and removed after the last. The files it
/// names were made by that call alone: ‘init’ begins only where none of them
/// is there. Nothing was published with their keys, so nothing is lost.
struct UnfinishedInit {
    private let note: String

    init(_ layout: RegistryLayout) { note = layout.directory + "/init.unfinished" }

    var isThere: Bool { get throws { try Durable.kind(of: note) != nil } }

    /// Deletes what a stopped call left.
    ///
    /// - Returns: Whether there was one.
    func clear() throws -> Bool {
        guard
            let bytes = try Durable.readFileIfPresent(note, maximum: .kibibytes(64), privacy: .ownerOnly)
        else { return false }
        for path in bytes.split(separator: 0) {
            try Durable.removeTree(String(decoding: path, as: UTF8.self))
        }
        try Durable.removeFile(note)
        return true
    }

    func begin(_ paths: [String]) throws {
        try Durable.writeAtomically(note, Array(paths.joined(separator: "\0").utf8), mode: 0o600)
    }

    func end() throws {
        try Durable.removeFile(note)
        try Durable.synchronizeDirectory(Durable.parent(of: note))
    }
}
