import Names

/// Python pickles, which run code of their author when they are opened, as most `.pt` and `.bin` files of PyTorch do.
package enum PickleFile {
    /// How such files usually end.
    package static let names = [".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib"]

    /// Known by name, or for `.bin`, by the first bytes.
    static func isPickle(_ path: FilePath, in files: VariantFiles) throws(VariantError) -> Bool {
        if names.contains(where: path.has(suffix:)) { return true }
        guard path.has(suffix: ".bin"), let length = files.length(of: path), length >= 2 else { return false }
        let source = try files.open(path)
        let head: [UInt8]
        do { head = try source.bytes(at: 0, count: Int(min(length, 256))) } catch {
            throw VariantError(path, .unreadable(error))
        }
        // Protocols 2 to 5, or PyTorch's ZIP file, whose first member is its pickle.
        if head[0] == 0x80 { return (2...5).contains(head[1]) }
        return head.starts(with: Array("PK\u{3}\u{4}".utf8)) && contains(Array("data.pkl".utf8), head)
    }

    private static func contains(_ needle: [UInt8], _ bytes: [UInt8]) -> Bool {
        guard bytes.count >= needle.count else { return false }
        return (0...bytes.count - needle.count).contains { bytes[$0...].starts(with: needle) }
    }
}
