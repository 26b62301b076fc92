/// What the system says of memory at one moment.
public struct MemoryState: Equatable, Sendable {
    /// Bytes that can still be had; `nil` when the system does not say.
    public var available: UInt64?

    /// The most that this process may ever have; `nil` when nothing limits it.
    public var limit: UInt64?

    /// What sets the least of both, for people: `cgroup /app`, `the machine`.
    public var source: String

    /// Describes a moment.
    public init(available: UInt64?, limit: UInt64?, source: String) {
        self.available = available
        self.limit = limit
        self.source = source
    }
}

/// What this process holds in memory.
public struct MemoryFootprint: Equatable, Sendable {
    /// Bytes that only this process holds and that no file backs.
    public var anonymous: UInt64

    /// All resident bytes, those of files included.
    public var resident: UInt64

    /// Describes a moment.
    public init(anonymous: UInt64, resident: UInt64) {
        self.anonymous = anonymous
        self.resident = resident
    }
}

/// Asks the system about memory; may block, and is called where that is allowed.
public protocol MemoryProbe: Sendable {
    /// How much there is.
    func state() -> MemoryState

    /// How much this process holds; `nil` when the system does not say.
    func footprint() -> MemoryFootprint?

    /// Gives memory that was freed back to the system.
    func giveBack()
}

/// How much memory models may take.
public struct MemoryPolicy: Equatable, Sendable {
    /// The most bytes that all models together may take; `nil` leaves it to the system's limits.
    public var budget: UInt64?

    /// Bytes that stay free whatever is loaded.
    public var headroom: UInt64 = 64 << 20

    /// The part of the limit that stays free, from 0 to 1; the greater of both counts.
    public var headroomShare = 0.1

    /// How long a load waits for memory that models in use hold.
    public var patience = Duration.seconds(10)

    /// The usual choice.
    public init(budget: UInt64? = nil) { self.budget = budget }
}
