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

    /// As many models, runtimes and options as are remembered.
    static let capacity = 512

    private(set) var measured: [Circumstances: UInt64] = [:]

    /// The one that was learned last comes last.
    private(set) var order: [Circumstances] = []

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

    /// Follows what was seen: at once where it is more, and by a quarter of the difference where it is less.
    ///
    /// One load beside others may seem to take what they took, and that must
    /// not be reckoned with for good. What was learned longest ago goes first.
    mutating func learn(_ bytes: UInt64, in circumstances: Circumstances) {
        let before = measured[circumstances] ?? 0
        measured[circumstances] = bytes >= before ? bytes : before - (before - bytes + 3) / 4
        order.removeAll { $0 == circumstances }
        order.append(circumstances)
        while order.count > Self.capacity { measured[order.removeFirst()] = nil }
    }

    /// With what was learned later, which counts where both say something and is forgotten last.
    func followed(by later: MemoryCosts) -> MemoryCosts {
        var costs = MemoryCosts()
        for circumstances in order where later.measured[circumstances] == nil {
            costs.learn(measured[circumstances] ?? 0, in: circumstances)
        }
        for circumstances in later.order {
            costs.learn(later.measured[circumstances] ?? 0, in: circumstances)
        }
        return costs
    }
}
