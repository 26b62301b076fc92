package import Durable
package import Names

/// Where a client keeps the metadata that it has verified, exactly as received.
///
/// Nothing in it is trusted for being there: every use verifies it again from
/// the pinned root.
package protocol MetadataStore: Sendable {
    /// Reads `root.json`, `root_history/3.root.json`, `timestamp.json`, `vision~detector.json` and the like.
    ///
    /// - Returns: `nil` when there is no such file.
    /// - Throws: `DurableError` when the disk fails.
    func load(_ name: String) throws(DurableError) -> [UInt8]?

    /// Replaces or creates a file; on any error the old one stays.
    func save(_ name: String, _ bytes: [UInt8]) throws(DurableError)
}

/// Metadata in a folder: current files by role name, and every root in `root_history`.
package struct FolderMetadataStore: MetadataStore {
    private let directory: String
    private let maximumLength: ByteCount

    /// - Parameters:
    ///   - directory: The folder.
    ///   - maximumLength: The longest file that counts as stored.
    package init(directory: String, maximumLength: ByteCount = Limits.targets) {
        self.directory = directory
        self.maximumLength = max(maximumLength, Limits.snapshot)
    }

    package func load(_ name: String) throws(DurableError) -> [UInt8]? {
        // Longer than any role may be, or no file at all, is not what this program stored: as good as absent.
        do {
            return try Durable.readFileIfPresent("\(directory)/\(name)", maximum: maximumLength)
        } catch {
            guard error.isOfContent || error.isObstructed else { throw error }
            return nil
        }
    }

    package func save(_ name: String, _ bytes: [UInt8]) throws(DurableError) {
        let path = "\(directory)/\(name)"
        try Durable.makeDirectory(directory)
        if let end = name.lastIndex(of: "/") {
            try Durable.makeDirectory(String(name[..<end]), below: directory)
        }
        try Durable.makeWay(at: path)
        Durable.removeLeftovers(in: Durable.parent(of: path))
        try Durable.writeAtomically(path, bytes)
    }
}
