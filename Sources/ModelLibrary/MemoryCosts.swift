import Manifest
import Names

/// What loading takes, from the manifest at first and from what was measured afterwards.
struct MemoryCosts: Equatable, Sendable {
    /// The circumstances in which a measurement holds.
    struct Circumstances: Hashable, Sendable {
        let manifest: Digest

        /// `onnxruntime 1.28.0`.
        let runtime: String

        /// As `LoadOptions.text` writes them.
        let options: String
    }

    private(set) var measured: [Circumstances: UInt64] = [:]

    /// Bytes to reckon with.
    ///
    /// A measurement counts with a fifth on top. Else what the publisher
    /// states, else the files with 15 % and 32 MiB on top, since an engine
    /// copies weights into a layout of its own and keeps tables beside them.
    func estimate(_ opened: OpenedModel, in circumstances: Circumstances) -> UInt64 {
        if let bytes = measured[circumstances] { return bytes.addingSaturated(bytes / 5) }
        if let stated = opened.memory { return stated.peak }
        return opened.length.addingSaturated(opened.length / 100 * 15).addingSaturated(32 << 20)
    }

    /// Remembers the greatest of what was seen.
    mutating func learn(_ bytes: UInt64, in circumstances: Circumstances) {
        measured[circumstances] = max(bytes, measured[circumstances] ?? 0)
    }
}
