import Manifest
import Names

/// What loading takes, from the manifest at first and from what was measured afterwards.
///
/// A measurement is what the whole process took while a model loaded, and so
/// may be the app's as well. Of the last few the middle one counts, so that
/// one that is wrong says little; and before there are three none says more than the
/// publisher, or than a model can be expected to make of its files.
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

    /// As many measurements as count, the last ones.
    static let mostSamples = 5

    /// From here on measurements are believed, however much they say.
    private static let enough = 3

    /// Each in the order of loads.
    private(set) var samples: [Circumstances: [UInt64]] = [:]

    /// The one that was learned last comes last.
    private(set) var order: [Circumstances] = []

    func isMeasured(_ circumstances: Circumstances) -> Bool { samples[circumstances] != nil }

    /// The middle of what was measured, and of two the greater one.
    func measured(_ circumstances: Circumstances) -> UInt64? {
        samples[circumstances].map { $0.sorted()[$0.count / 2] }
    }

    /// Bytes to reckon with at the peak of a load.
    ///
    /// A measurement counts with a fifth on top, and never less than the peak
    /// that the publisher states, which it does not see. Else what the publisher
    /// states, else the files with 15 % and 32 MiB on top, since an engine
    /// copies weights into a layout of its own and keeps tables beside them.
    func estimate(_ opened: OpenedModel, in circumstances: Circumstances) -> UInt64 {
        let stated = opened.memory?.peak
        guard isMeasured(circumstances) else { return stated ?? opened.guess }
        let held = held(opened, in: circumstances)
        return max(held.addingSaturated(held / 5), stated ?? 0)
    }

    /// Bytes that a model holds once it is loaded.
    func held(_ opened: OpenedModel, in circumstances: Circumstances) -> UInt64 {
        guard let samples = samples[circumstances], let measured = measured(circumstances) else {
            return opened.memory?.resident ?? opened.guess
        }
        // An engine that maps the weights may hold few of them; one that holds nothing at all there is none.
        let least = max(measured, opened.length / 32)
        if samples.count >= Self.enough { return least }
        let most =
            opened.memory.map { max($0.peak, $0.resident) }
            ?? opened.length.addingSaturated(opened.length).addingSaturated(opened.length)
            .addingSaturated(opened.length).addingSaturated(256 << 20)
        return min(least, most)
    }

    /// Takes a measurement; what was learned longest ago goes first.
    mutating func learn(_ bytes: UInt64, in circumstances: Circumstances) {
        samples[circumstances] = ((samples[circumstances] ?? []) + [bytes]).suffix(Self.mostSamples)
        order.removeAll { $0 == circumstances }
        order.append(circumstances)
        while order.count > Self.capacity { samples[order.removeFirst()] = nil }
    }

    /// With what was learned later.
    func followed(by later: MemoryCosts) -> MemoryCosts {
        var costs = self
        for circumstances in later.order {
            for bytes in later.samples[circumstances] ?? [] { costs.learn(bytes, in: circumstances) }
        }
        return costs
    }
}

extension OpenedModel {
    /// What its files let expect.
    fileprivate var guess: UInt64 {
        length.addingSaturated(length / 100 * 15).addingSaturated(32 << 20)
    }
}

/// Versions that reproduced their golden vectors, each with a runtime and options; the files are the same each time.
struct ProvenVersions: Equatable, Sendable {
    /// The one that was proven last comes last.
    private(set) var order: [MemoryCosts.Circumstances] = []
    private var all: Set<MemoryCosts.Circumstances> = []

    func contains(_ circumstances: MemoryCosts.Circumstances) -> Bool { all.contains(circumstances) }

    /// Remembers one; what was proven longest ago goes first.
    mutating func insert(_ circumstances: MemoryCosts.Circumstances) {
        guard all.insert(circumstances).inserted else { return }
        order.append(circumstances)
        if order.count > MemoryCosts.capacity { all.remove(order.removeFirst()) }
    }

    /// With those that were proven later.
    func followed(by later: ProvenVersions) -> ProvenVersions {
        var versions = self
        for circumstances in later.order { versions.insert(circumstances) }
        return versions
    }
}
