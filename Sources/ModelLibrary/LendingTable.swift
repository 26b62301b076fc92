import Blocking
import Inference
import Names

/// A version as it is to be loaded: what a library keeps in memory once.
struct LoadKey: Hashable, Sendable {
    let version: LibraryVersion
    let options: LoadOptions
}

/// A model as it was asked for, whatever its version.
struct Wanted: Hashable, Sendable {
    let name: ModelName
    let options: LoadOptions
}

/// A model in memory and what it was loaded from.
struct Resident: Sendable {
    let number: Int
    let key: LoadKey
    let opened: OpenedModel
    let model: any LoadedModel

    /// Bytes that its load took.
    let bytes: UInt64
    let record: LoadRecord
}

/// What is in memory, who uses it, and what a name stands for at the moment.
///
/// The one part of a library that a call on a resident model touches, without
/// a hop to the actor: a lock, two look-ups by number or name, no system call.
/// A model leaves the table when nobody uses it and it has a reason to go.
final class LendingTable: Sendable {
    struct Slot: Sendable {
        let resident: Resident

        /// When each lease began.
        var leases: [Int: Duration] = [:]

        /// Those that were told as held for long.
        var told: Set<Int> = []

        /// Why it goes as soon as nobody uses it; `nil` while it may stay.
        var retirement: EvictionReason?
        var priority: ModelPriority
        var isPinned: Bool
        var lastUse: Duration

        /// Notes a new lease, which also keeps a model that was about to go.
        mutating func begin(_ lease: Int, _ request: ModelRequest, at now: Duration) -> Resident {
            leases[lease] = now
            retirement = nil
            priority = request.priority
            isPinned = request.isPinned
            lastUse = now
            return resident
        }
    }

    /// What a name stands for, and until when nobody need look again.
    struct Named: Sendable {
        var number: Int
        var stamp: SourceStamp?
        var holdsUntil: Duration

        /// Which look at the device said so; a later one says more.
        var look: Int

        /// When the device was last asked for more than its stamp: the grace of a chain ends without a change.
        var looked: Duration

        /// When the active version is to be tried again, for which another one answers.
        var retryAt: Duration?
    }

    struct State: Sendable {
        var slots: [Int: Slot] = [:]
        var numbers: [LoadKey: Int] = [:]
        var named: [Wanted: Named] = [:]
        var uses: [ModelName: Uses] = [:]
        var lastNumber = 0

        /// Whether a load waits for what models in use hold.
        var isRoomWanted = false
    }

    /// How often a model was used.
    struct Uses: Equatable, Sendable {
        var hits: UInt64 = 0
        var runs: UInt64 = 0
        var failures: UInt64 = 0
    }

    private static let longestTrust = Duration.seconds(60)

    private let guarded = Guarded(State())

    /// Everything else that the library does with it.
    func change<Result>(_ body: (inout State) -> Result) -> Result { guarded.withLock(body) }
}

/// One use of a model in memory.
struct Lent: Sendable {
    let resident: Resident
    let lease: Int
}

extension LendingTable {
    /// Lends what `wanted` stands for, if that is in memory and a look at the device still holds.
    ///
    /// - Parameters:
    ///   - wanted: What the name stands for.
    ///   - request: How much it matters.
    ///   - now: When it is asked for.
    ///   - recheck: For how long a look at the device holds.
    ///   - stamp: Asked only when the last look is too old.
    /// - Returns: `nil` when the actor must look.
    func hit(
        _ wanted: Wanted,
        _ request: ModelRequest,
        at now: Duration,
        recheck: Duration,
        stamp: () -> SourceStamp?
    ) -> Lent? {
        let found = change { state -> Lent?? in
            guard let named = state.named[wanted], named.retryAt.map({ now < $0 }) ?? true else {
                return .none
            }
            guard now < named.holdsUntil else { return .some(nil) }
            return .some(state.lend(named.number, request, at: now))
        }
        guard let found else { return nil }
        if let found { return found }
        guard let stamp = stamp() else { return nil }
        return change { state in
            guard let named = state.named[wanted], named.stamp == stamp,
                now - named.looked < Self.longestTrust
            else { return nil }
            state.named[wanted]?.holdsUntil = now + recheck
            return state.lend(named.number, request, at: now)
        }
    }

    /// Ends a lease.
    ///
    /// - Parameters:
    ///   - lent: What was lent.
    ///   - now: When it ends.
    ///   - count: How many idle models may stay; `nil` for all.
    /// - Returns: Whether the actor has something to do now: a model to free, or a load that waits for room.
    func giveBack(_ lent: Lent, at now: Duration, keeping count: Int?) -> Bool {
        change { state in
            let number = lent.resident.number
            guard var slot = state.slots[number] else { return false }
            slot.leases[lent.lease] = nil
            slot.told.remove(lent.lease)
            slot.lastUse = now
            state.slots[number] = slot
            guard slot.leases.isEmpty else { return false }
            return slot.retirement != nil || state.isRoomWanted
                || count.map { state.slots.count > $0 } ?? false
        }
    }
}

extension LendingTable.State {
    mutating func lend(_ number: Int, _ request: ModelRequest, at now: Duration) -> Lent? {
        lastNumber += 1
        let lease = lastNumber
        guard let resident = slots[number]?.begin(lease, request, at: now) else { return nil }
        uses[request.name, default: LendingTable.Uses()].hits += 1
        return Lent(resident: resident, lease: lease)
    }

    mutating func add(_ resident: Resident, _ request: ModelRequest, at now: Duration) {
        slots[resident.number] = LendingTable.Slot(
            resident: resident,
            priority: request.priority,
            isPinned: request.isPinned,
            lastUse: now
        )
        numbers[resident.key] = resident.number
    }

    /// Takes a model out, if it is there and nobody uses it.
    mutating func remove(_ number: Int) -> LendingTable.Slot? {
        guard let slot = slots[number], slot.leases.isEmpty else { return nil }
        slots[number] = nil
        if numbers[slot.resident.key] == number { numbers[slot.resident.key] = nil }
        for (wanted, named) in named where named.number == number { self.named[wanted] = nil }
        return slot
    }
}
