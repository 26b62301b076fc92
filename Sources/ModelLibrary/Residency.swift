import Blocking
public import Inference
import Names

/// A model that a library holds in memory now.
public struct ResidentModel: Equatable, Sendable {
    /// The name, `vision/detector`.
    public let model: String

    /// The version, `1.4.0`.
    public let version: String

    /// The variant, `default`.
    public let variant: String

    /// How it was loaded; one version may be in memory several times, each in another way.
    public let options: LoadOptions

    /// Calls that use it now.
    public let leases: Int

    /// Bytes that its load took, as far as the system tells.
    public let bytes: UInt64

    /// How much it matters.
    public let priority: ModelPriority

    /// Whether it stays when idle.
    public let isPinned: Bool

    /// Whether it goes when the last of its leases ends.
    public let isLeaving: Bool
}

/// Models on their way out, or what holds them; freed where blocking is allowed, since engines take their time.
final class Leaving<Holder: Sendable>: Sendable {
    private let holders: Guarded<[Holder]>

    init(_ holders: [Holder]) { self.holders = Guarded(holders) }

    var all: [Holder] { holders.withLock { $0 } }

    var isEmpty: Bool { holders.withLock { $0.isEmpty } }

    func empty() { holders.withLock { $0 = [] } }
}

extension ModelLibrary {
    /// What is in memory now, in the order of names.
    public nonisolated var residents: [ResidentModel] {
        table.change { state in
            state.slots.values.map { slot in
                let version = slot.resident.key.version
                return ResidentModel(
                    model: version.modelText,
                    version: version.versionText,
                    variant: version.variant.description,
                    options: slot.resident.key.options,
                    leases: slot.leases.count,
                    bytes: slot.resident.bytes,
                    priority: slot.priority,
                    isPinned: slot.isPinned,
                    isLeaving: slot.retirement != nil
                )
            }
        }
        .sorted { ($0.model, $0.version, $0.variant) < ($1.model, $1.version, $1.variant) }
    }

    /// Frees every version of one model, pinned or not: at once when idle, else when its last lease ends.
    ///
    /// Who asks for it before that is lent what is in memory, which goes all
    /// the same. A version that is still loading goes when those who wait for it
    /// are done. A later request loads the model again, no longer pinned.
    public func unload(_ request: ModelRequest) async {
        await unload(.requested) { $0 == request.name }
    }

    /// Frees every model, as `unload` does; pinned ones too.
    ///
    /// - Parameter reason: For the events: `memory warning`, `background`.
    public func unloadAll(reason: String) async { await unload(.all(reason)) { _ in true } }

    private func unload(_ reason: EvictionReason, _ condition: (ModelName) -> Bool) async {
        for key in loads.keys where condition(key.version.model) { loads[key]?.retirement = reason }
        await free { state in
            state.unpin { condition($0.name) }
            state.retire(reason) { condition($0.resident.key.version.model) }
        }
    }

    /// Lets a model that was pinned go by the rules for others again; returns at once.
    ///
    /// A pin lasts through plain requests and new versions, until this or `unload`.
    ///
    /// - Parameter request: As the one that pinned it: the model, and how it is loaded.
    public nonisolated func unpin(_ request: ModelRequest) {
        let wanted = wanted(request)
        table.change { state in state.unpin { $0 == wanted } }
    }

    /// Frees every model: `unloadAll` with a reason of its own.
    public func clear() async { await unloadAll(reason: "clear") }

    /// Frees idle models once, by a rule that is not the one of the configuration.
    ///
    /// - Parameter policy: Which stay; pinned ones do in any case.
    public func evict(keeping policy: ResidencyPolicy) async {
        await free { $0.retire(beyond: policy.count) }
    }

    /// Frees what nobody uses and has a reason to go.
    func tend() async {
        let freed = startTending()
        await wait(for: freed)
    }

    /// Takes what nobody uses and has a reason to go out of the table; its memory comes back afterwards.
    ///
    /// - Returns: Answered when it is freed; `nil` where nothing is.
    @discardableResult
    func startTending() -> Answer<Void>? {
        let count = configuration.residency.count
        let freed = startFreeing { $0.retire(beyond: count) }
        wakeRoomWaiters()
        return freed
    }

    /// Marks models by `rule` and frees those that are idle, the least important first.
    ///
    /// An engine that takes its time is waited for a while only.
    func free(_ rule: (inout LendingTable.State) -> Void) async {
        let freed = startFreeing(rule)
        await wait(for: freed)
    }

    /// The longest that anybody waits for an engine to free a model.
    private static var longestWait: Duration { .seconds(5) }

    /// Waits until models are freed, the caller is cancelled or it takes too long.
    func wait(for freed: Answer<Void>?) async {
        _ = try? await freed?.value(by: clock.now + Self.longestWait, clock)
    }

    /// Takes models out of the table by `rule`, and has them freed.
    ///
    /// - Returns: Answered when they are; `nil` where none is.
    @discardableResult
    func startFreeing(_ rule: (inout LendingTable.State) -> Void) -> Answer<Void>? {
        let leaving = table.change { state in
            rule(&state)
            let idle = state.slots.values.filter { $0.retirement != nil && $0.leases.isEmpty }
                .sorted { ($0.priority, $0.lastUse) < ($1.priority, $1.lastUse) }
            return Leaving(idle.compactMap { state.remove($0.resident.number) })
        }
        guard !leaving.isEmpty else { return nil }
        return letGo(leaving, leaving.all.map { ($0.resident.key.version, $0.retirement ?? .requested) })
    }

    /// Has an engine free what nothing else holds, which may take its time.
    ///
    /// - Parameters:
    ///   - leaving: What is to be freed.
    ///   - evicted: The versions that were lent, each with the reason.
    /// - Returns: Answered when it is.
    func letGo<Holder>(
        _ leaving: Leaving<Holder>,
        _ evicted: [(LibraryVersion, EvictionReason)] = []
    ) -> Answer<Void> {
        let freed = Answer<Void>()
        departures += 1
        turn.noteDeparture()
        // Of no caller: it goes on when one is cancelled.
        Task {
            await release(leaving, evicted)
            freed.give(.success(()))
        }
        return freed
    }

    private func release<Holder>(
        _ leaving: Leaving<Holder>,
        _ evicted: [(LibraryVersion, EvictionReason)]
    ) async {
        let probe = probe
        await LibraryThreads.engines.run {
            leaving.empty()
            probe.giveBack()
        }
        departures -= 1
        turn.noteDeparture()
        wakeRoomWaiters()
        for (version, reason) in evicted {
            counters.noteEviction(of: version.modelText, reason)
            tell(.evicted(model: version.modelText, version: version.versionText, reason: reason))
        }
    }
}

extension LendingTable.State {
    /// Marks those that `condition` picks; one that goes already keeps its reason, unless only the new one is final.
    mutating func retire(_ reason: EvictionReason, _ condition: (LendingTable.Slot) -> Bool) {
        for (number, slot) in slots where condition(slot) {
            guard slot.retirement.map({ reason.isFinal && !$0.isFinal }) ?? true else { continue }
            slots[number]?.retirement = reason
        }
    }

    /// Marks idle models beyond the `count` that were used last; those that leave as it is take no place.
    mutating func retire(beyond count: Int?) {
        guard let count else { return }
        let staying = slots.values.filter { !$0.isPinned && $0.retirement == nil }
            .sorted { $0.lastUse > $1.lastUse }
        for slot in staying.dropFirst(count) where slot.leases.isEmpty {
            slots[slot.resident.number]?.retirement = .residency
        }
    }

    /// Marks every version that the name of `key` does not stand for any more.
    ///
    /// - Parameters:
    ///   - key: What replaces them.
    ///   - evenIfStanding: Whether the one goes that the name stands for.
    mutating func retireOthers(of key: LoadKey, evenIfStanding: Bool) {
        let standing = named[key.wanted]?.number
        retire(.replaced) { slot in
            guard slot.resident.key.wanted == key.wanted else { return false }
            return evenIfStanding || slot.resident.number != standing
        }
    }
}
