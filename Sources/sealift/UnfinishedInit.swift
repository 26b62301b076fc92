import Durable
import Names

/// The notes by which an ‘init’ that was stopped is told from a registry, and what it left is cleared away.
///
/// One in the registry's directory lists what is being made; written before
/// the first file and removed after the last. One in the client's folder names
/// that directory, so that no other ‘init’ puts files there meanwhile. What is
/// listed was therefore made by that call alone, for ‘init’ begins only where
/// none of it is there; without the second note nothing in the client's folder
/// is touched. Nothing was published with the keys, so nothing is lost.
struct UnfinishedInit {
    private static let name = "/init.unfinished"

    private let directory: String

    init(_ layout: RegistryLayout) { directory = layout.directory }

    private var note: String { directory + Self.name }

    var isThere: Bool { get throws { try Durable.kind(of: note) != nil } }

    /// Deletes what a stopped call left.
    ///
    /// - Returns: Whether there was one.
    func clear() throws -> Bool {
        guard
            let bytes = try Durable.readFileIfPresent(note, maximum: .kibibytes(64), privacy: .ownerOnly)
        else { return false }
        var paths = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }[...]
        let client = paths.popFirst() ?? ""
        let isOurs = try Self.holder(of: client) == directory
        for path in paths where isOurs || path.hasPrefix(directory + "/") { try Durable.removeTree(path) }
        if isOurs { try Durable.removeFile(client + Self.name) }
        try Durable.removeFile(note)
        return true
    }

    /// Another registry's directory whose ‘init’ was stopped while it wrote to the client's folder.
    func other(in client: String) throws -> String? {
        guard let holder = try Self.holder(of: client), holder != directory,
            try Durable.kind(of: holder + Self.name) != nil
        else { return nil }
        return holder
    }

    /// - Parameters:
    ///   - paths: Everything that will be made.
    ///   - client: The folder of what is not below the registry's directory; it must be there.
    /// - Throws: `DurableError`.
    func begin(_ paths: [String], client: String) throws {
        try write(([client] + paths).joined(separator: "\0"), to: note)
        try write(directory, to: client + Self.name)
    }

    func end(client: String) throws {
        try Durable.removeFile(note)
        try Durable.synchronizeDirectory(directory)
        try Durable.removeFile(client + Self.name)
    }

    private func write(_ text: String, to path: String) throws {
        try Durable.writeAtomically(path, Array(text.utf8), mode: 0o600)
    }

    private static func holder(of client: String) throws -> String? {
        try Durable.readFileIfPresent(client + name, maximum: .kibibytes(64), privacy: .ownerOnly)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
