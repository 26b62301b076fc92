import Blocking
import Inference
import Names

/// A version as it is to be loaded: what a library keeps in memory once.
struct LoadKey: Hashable, Sendable {
    let version: LibraryVersion
    let options: LoadOptions

    var wanted: Wanted { Wanted(name: version.model, options: options) }

    /// `vision/detector 1.4.0`, for people.
    var words: String { "\(version.modelText) \(version.versionText)" }
}

/// A model as it was asked for, whatever its version.
struct Wanted: Hashable, Sendable {
    let name: ModelName
    let options: LoadOptions
}

/// A model in memory and what it was loaded from.
///
/// One object, since each use hands it on twice: as a value it would be thirty references counted up and down.
final class Resident: Sendable {
    let number: Int
    let key: LoadKey
    let opened: OpenedModel
    let model: any LoadedModel

    /// Bytes that its load took.
    let bytes: UInt64
    let record: LoadRecord

    init(
        number: Int,
        key: LoadKey,
        opened: OpenedModel,
        model: any LoadedModel,
        bytes: UInt64,
        record: LoadRecord
    ) {
        self.number = number
        self.key = key
        self.opened = opened
        self.model = model
        self.bytes = bytes
        self.record = record
    }
}

/// What is in memory, who uses it, and what a name stands for at the moment.
///
/// The one part of a library that a call on a resident model touches while the
/// last look at the device holds, without a hop to the actor: a lock, two
/// look-ups by number or name, no system call.
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

        /// Notes a new lease, which also keeps a model that was about to go, unless that is final.
        mutating func begin(_ lease: Int, _ request: ModelRequest, at now: Duration) -> Resident {
            leases[lease] = now
            if retirement?.isFinal == false { retirement = nil }
            priority = request.priority
            lastUse = now
            return resident
        }

        /// Ends a lease.
        ///
        /// - Returns: Whether nobody uses it now.
        mutating func end(_ lease: Int, at now: Duration) -> Bool {
            leases[lease] = nil
            told.remove(lease)
            lastUse = now
            return leases.isEmpty
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

        /// What stays in memory when idle, whatever its version, until the app ends that.
        var pins: Set<Wanted> = []

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
    /// - Returns: `nil` when the actor must look.
    func hit(_ wanted: Wanted, _ request: ModelRequest, at now: Duration) -> Lent? {
        change { state in
            guard let named = state.named[wanted], named.retryAt.map({ now < $0 }) ?? true,
                now < named.holdsUntil
            else { return nil }
            return state.lend(named.number, request, at: now)
        }
    }

    /// The stamp of the last look at the device, if one that is still the same says enough.
    func knownStamp(of wanted: Wanted, at now: Duration) -> SourceStamp? {
        change { state in
            guard let named = state.named[wanted], named.retryAt.map({ now < $0 }) ?? true,
                now - named.looked < Self.longestTrust
            else { return nil }
            return named.stamp
        }
    }

    /// Lends what `wanted` stands for, after a look at the device that found nothing changed.
    ///
    /// - Returns: `nil` when it stands for something else meanwhile.
    func renew(
        _ wanted: Wanted,
        _ request: ModelRequest,
        _ stamp: SourceStamp?,
        at now: Duration,
        recheck: Duration
    ) -> Lent? {
        change { state in
            guard let named = state.named[wanted], let stamp, named.stamp == stamp else { return nil }
            state.named[wanted]?.holdsUntil = now + recheck
            return state.lend(named.number, request, at: now)
        }
    }

    /// A lease that ends, which keeps nothing in memory.
    struct End: Sendable {
        let number: Int
        let lease: Int
    }

    /// Ends a lease.
    ///
    /// - Parameters:
    ///   - end: Which.
    ///   - now: When it ends.
    ///   - count: How many idle models may stay; `nil` for all.
    /// - Returns: Whether the actor has something to do now: a model to free, or a load that waits for room.
    func giveBack(_ end: End, at now: Duration, keeping count: Int?) -> Bool {
        change { state in
            let number = end.number
            // In its place: a copy would copy the table of leases with each use.
            guard state.slots[number]?.end(end.lease, at: now) == true else { return false }
            return state.slots[number]?.retirement != nil || state.isRoomWanted
                || count.map { state.slots.count > $0 } ?? false
        }
    }
}

extension LendingTable.State {
    mutating func lend(_ number: Int, _ request: ModelRequest, at now: Duration) -> Lent? {
        lastNumber += 1
        let lease = lastNumber
        guard let resident = slots[number]?.begin(lease, request, at: now) else { return nil }
        if request.isPinned { pin(resident.key.wanted) }
        uses[request.name, default: LendingTable.Uses()].hits += 1
        return Lent(resident: resident, lease: lease)
    }

    mutating func add(_ resident: Resident, _ request: ModelRequest, at now: Duration) {
        let wanted = resident.key.wanted
        slots[resident.number] = LendingTable.Slot(
            resident: resident,
            priority: request.priority,
            isPinned: pins.contains(wanted),
            lastUse: now
        )
        numbers[resident.key] = resident.number
        if request.isPinned { pin(wanted) }
    }

    /// Keeps every version of what is wanted in memory when idle, also those to come.
    private mutating func pin(_ wanted: Wanted) {
        guard pins.insert(wanted).inserted else { return }
        setPins(true) { $0 == wanted }
    }

    /// Ends pins, so that what they kept goes by the rules for others.
    mutating func unpin(_ condition: (Wanted) -> Bool) {
        pins = pins.filter { !condition($0) }
        setPins(false, condition)
    }

    private mutating func setPins(_ isPinned: Bool, _ condition: (Wanted) -> Bool) {
        for (number, slot) in slots where condition(slot.resident.key.wanted) {
            slots[number]?.isPinned = isPinned
        }
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
