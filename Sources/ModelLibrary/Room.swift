import Blocking

extension ModelLibrary {
    /// Waits until the gate lets the load through; frees what it names meanwhile.
    ///
    /// The turn is passed on while models in use are waited for, so that a
    /// lease that is never given back holds up this load and no other.
    ///
    /// - Throws: `ModelLibraryError.underPressure`, `.doesNotFit` or `.neverFits`.
    func makeRoom(for prepared: Prepared, _ ticket: LoadTurn.Ticket) async throws {
        let (key, version) = (prepared.key, prepared.key.version)
        let patience = clock.now + configuration.memory.patience
        let probe = probe
        while true {
            // From here on every lease that ends is told, also one that ends before the wait begins.
            table.change { $0.isRoomWanted = true }
            let seen = roomEvents
            guard pressure < .critical else {
                throw ModelLibraryError.underPressure(model: version.modelText)
            }
            let state = await LibraryThreads.memory.run { probe.state() }
            // Asked now: somebody to whom it matters more may have joined.
            let priority = priority(of: key)
            let decision = gate.decide(
                need: prepared.need,
                priority: priority,
                mayEvict: priority > .low,
                state: state,
                held: held(besides: key)
            )
            switch decision {
            case .load: return
            case .evict(let numbers):
                await free { state in
                    for number in numbers { state.slots[number]?.retirement = .memory }
                }
            // What is just being freed is in no table, and may be all that is missing.
            case .wait where clock.now < patience,
                .doesNotFit where clock.now < patience && (departures > 0 || roomEvents != seen):
                pass(ticket)
                await waitForRoom(until: patience, seen: seen)
                await take(ticket, key)
            case .wait:
                throw refusal(version, prepared.need, state)
            case .doesNotFit(let needed, let available, let reason):
                let source = reason + recordNote(prepared)
                throw ModelLibraryError.doesNotFit(
                    model: version.modelText,
                    version: version.versionText,
                    needed: needed,
                    available: available,
                    source: source
                )
            case .neverFits(let needed, let limit, let reason):
                let source = reason + recordNote(prepared)
                throw ModelLibraryError.neverFits(
                    model: version.modelText,
                    version: version.versionText,
                    needed: needed,
                    limit: limit,
                    source: source
                )
            }
        }
    }

    /// Where a need comes from that is remembered and not reckoned, so that a wrong one can be got rid of.
    private func recordNote(_ prepared: Prepared) -> String {
        guard let file = configuration.recordFile, costs.isMeasured(prepared.circumstances) else {
            return ""
        }
        return
            " (the need is what \(file) remembers of earlier loads; without that file it is measured again)"
    }

    private func refusal(_ version: LibraryVersion, _ need: UInt64, _ state: MemoryState) -> ModelLibraryError
    {
        let headroom = gate.headroom(under: state.limit)
        let available = state.available.map { $0 - min($0, headroom) } ?? 0
        return .doesNotFit(
            model: version.modelText,
            version: version.versionText,
            needed: need,
            available: available,
            source: "what is left by models in use"
        )
    }

    /// What is in memory, and what loads will take that take so long that others load beside them.
    private func held(besides key: LoadKey) -> [MemoryGate.Held] {
        let loading = loads.filter { $0.key != key }.compactMap { other, load in
            load.bytes.map { bytes in
                MemoryGate.Held(
                    number: 0,
                    bytes: bytes,
                    isInUse: true,
                    isPinned: false,
                    priority: load.request.priority,
                    isReplaced: other.wanted == key.wanted,
                    lastUse: clock.now
                )
            }
        }
        let resident = table.change { state in
            state.slots.values.map { slot in
                MemoryGate.Held(
                    number: slot.resident.number,
                    bytes: slot.resident.bytes,
                    isInUse: !slot.leases.isEmpty,
                    isPinned: slot.isPinned,
                    priority: slot.priority,
                    isReplaced: slot.resident.key.wanted == key.wanted,
                    lastUse: slot.lastUse
                )
            }
        }
        return loading + resident
    }

    private func waitForRoom(until time: Duration, seen: Int) async {
        let number = nextNumber()
        let clock = clock
        let timer = Task { [weak self] in
            try? await clock.sleep(until: time)
            await self?.stopWaitingForRoom(number)
        }
        if roomEvents == seen { await withCheckedContinuation { roomWaiters[number] = $0 } }
        timer.cancel()
    }

    private func stopWaitingForRoom(_ number: Int) { roomWaiters.removeValue(forKey: number)?.resume() }

    func wakeRoomWaiters() {
        roomEvents += 1
        table.change { $0.isRoomWanted = false }
        let waiters = roomWaiters.values
        roomWaiters = [:]
        for waiter in waiters { waiter.resume() }
    }
}
