import Blocking
public import ModelLibrary

/// Memory that a test decides on; models of a `FakeRuntime` take from it.
public final class FakeMemory: MemoryProbe {
    private struct State {
        var limit: UInt64?
        var taken: UInt64 = 0
        var others: UInt64 = 0
        var givenBack = 0
    }

    private let guarded: Guarded<State>

    /// A machine with that much memory.
    ///
    /// - Parameter limit: In bytes; `nil` for one that says nothing.
    public init(limit: UInt64?) { guarded = Guarded(State(limit: limit)) }

    /// Bytes that models hold now.
    public var taken: UInt64 { guarded.withLock { $0.taken } }

    /// How often freed memory was given back to the system.
    public var timesGivenBack: Int { guarded.withLock { $0.givenBack } }

    /// Lets other programs hold that many bytes.
    public func setOthers(_ bytes: UInt64) { guarded.withLock { $0.others = bytes } }

    /// What is left of the limit.
    public func state() -> MemoryState {
        guarded.withLock { state in
            let available = state.limit.map { $0 - min($0, state.taken + state.others) }
            return MemoryState(available: available, limit: state.limit, source: "the fake machine")
        }
    }

    /// What models hold.
    public func footprint() -> MemoryFootprint? {
        let taken = taken
        return MemoryFootprint(anonymous: taken, resident: taken)
    }

    /// Counts.
    public func giveBack() { guarded.withLock { $0.givenBack += 1 } }

    func take(_ bytes: UInt64) { guarded.withLock { $0.taken += bytes } }
    func free(_ bytes: UInt64) { guarded.withLock { $0.taken -= min($0.taken, bytes) } }
}
