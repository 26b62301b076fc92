import Blocking

/// Lets one model at a time be loaded in the whole process, in the order of priority and then of asking.
///
/// Memory is highest while a model loads, so two loads at once could be one
/// too many where either alone fits. Who waits knows behind whom.
package final class LoadTurn: Sendable {
    /// The one of this process.
    package static let shared = LoadTurn()

    /// One load among those of all libraries.
    struct Ticket: Hashable, Sendable {
        fileprivate let number: Int
    }

    struct Waiter: Sendable {
        let ticket: Ticket
        let who: String
        var priority: ModelPriority
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var lastNumber = 0
        var holder: (ticket: Ticket, who: String)?
        var waiting: [Waiter] = []
        var departures = 0

        mutating func insert(_ waiter: Waiter) {
            let place = waiting.firstIndex { $0.priority < waiter.priority } ?? waiting.endIndex
            waiting.insert(waiter, at: place)
        }
    }

    private let guarded = Guarded(State())

    package init() {}

    /// Those that wait, the next one first.
    var waiting: [Waiter] { guarded.withLock { $0.waiting } }

    /// Whose load has the turn for which another waits, for people; `nil` when it does not.
    func holder(before ticket: Ticket) -> String? {
        guarded.withLock { state in
            state.waiting.contains { $0.ticket == ticket } ? state.holder?.who : nil
        }
    }

    /// How often models of this process began or ended to be freed until now.
    ///
    /// What a load seems to take says nothing when this changes meanwhile.
    var departures: Int { guarded.withLock { $0.departures } }

    func noteDeparture() { guarded.withLock { $0.departures += 1 } }

    func ticket() -> Ticket {
        guarded.withLock { state in
            state.lastNumber += 1
            return Ticket(number: state.lastNumber)
        }
    }

    /// Waits for the turn; that it does is known to `raise` as soon as this is called.
    func take(_ ticket: Ticket, _ who: String, _ priority: ModelPriority) async {
        await withCheckedContinuation { continuation in
            let isFree = guarded.withLock { state in
                guard state.holder != nil else {
                    state.holder = (ticket, who)
                    return true
                }
                state.insert(
                    Waiter(ticket: ticket, who: who, priority: priority, continuation: continuation)
                )
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Lets a load that waits come before those of lower priority.
    func raise(_ ticket: Ticket, to priority: ModelPriority) {
        guarded.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0.ticket == ticket }),
                state.waiting[place].priority < priority
            else { return }
            var waiter = state.waiting.remove(at: place)
            waiter.priority = priority
            state.insert(waiter)
        }
    }

    /// Passes the turn on, if `ticket` has it.
    func pass(_ ticket: Ticket) {
        let next = guarded.withLock { state -> Waiter? in
            guard state.holder?.ticket == ticket else { return nil }
            let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
            state.holder = next.map { ($0.ticket, $0.who) }
            return next
        }
        next?.continuation.resume()
    }
}

extension ModelLibrary {
    /// How much a load matters: as much as to the caller to whom it matters most.
    func priority(of key: LoadKey) -> ModelPriority { loads[key]?.request.priority ?? .low }

    /// Lets a load matter as much as it does to a caller who joins it.
    func raise(_ key: LoadKey, to priority: ModelPriority) {
        guard let load = loads[key], load.request.priority < priority else { return }
        loads[key]?.request.priority = priority
        turn.raise(load.ticket, to: priority)
        wakeRoomWaiters()
    }

    /// Waits for the turn, which is passed on when it is kept for longer than is usual.
    ///
    /// A disk or a runtime that never comes back must hold up no other model.
    func take(_ ticket: LoadTurn.Ticket, _ key: LoadKey) async {
        await turn.take(ticket, key.words, priority(of: key))
        let (clock, long) = (clock, configuration.longLoad)
        let due = clock.now + long
        watchdogs[ticket] = Task { [weak self] in
            guard (try? await clock.sleep(until: due)) != nil else { return }
            await self?.overstay(ticket, key, after: long)
        }
    }

    func pass(_ ticket: LoadTurn.Ticket) {
        watchdogs.removeValue(forKey: ticket)?.cancel()
        turn.pass(ticket)
    }

    private func overstay(_ ticket: LoadTurn.Ticket, _ key: LoadKey, after long: Duration) {
        guard watchdogs[ticket] != nil else { return }
        tell(.longLoad(model: key.version.modelText, version: key.version.versionText, after: long))
        pass(ticket)
    }
}
