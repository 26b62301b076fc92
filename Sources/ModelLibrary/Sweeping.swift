import Names

/// Idle time-outs, and leases that are held for long.
extension ModelLibrary {
    /// Starts the one task that looks from time to time while something is in memory.
    func startSweeping() {
        guard sweeper == nil else { return }
        let clock = clock
        sweeper = Task { [weak self] in
            while let due = await self?.nextSweep() {
                guard (try? await clock.sleep(until: due)) != nil else { return }
                await self?.sweep()
            }
        }
    }

    /// However short the times of the configuration are, nobody looks more often.
    private static var shortestSweep: Duration { .milliseconds(100) }

    /// When the next model or lease is due; `nil` ends the task, as nothing is in memory.
    private func nextSweep() -> Duration? {
        let (timeout, long) = (configuration.idleTimeout, configuration.longLease)
        let now = clock.now
        let due = table.change { state -> Duration? in
            guard !state.slots.isEmpty else { return nil }
            // A use after this look is due later than any of these.
            var due = now + min(timeout ?? long, long)
            for slot in state.slots.values {
                for (lease, began) in slot.leases where !slot.told.contains(lease) {
                    due = min(due, began + long)
                }
                if let timeout, slot.leases.isEmpty, !slot.isPinned { due = min(due, slot.lastUse + timeout) }
            }
            return due
        }
        guard let due else {
            sweeper = nil
            return nil
        }
        return lastSweep.map { max(due, $0 + Self.shortestSweep) } ?? due
    }

    private func sweep() {
        let (timeout, long) = (configuration.idleTimeout, configuration.longLease)
        let now = clock.now
        lastSweep = now
        let overdue = table.change { state -> [(LibraryVersion, Duration)] in
            var overdue: [(LibraryVersion, Duration)] = []
            for (number, slot) in state.slots {
                for (lease, began) in slot.leases where now - began >= long && !slot.told.contains(lease) {
                    state.slots[number]?.told.insert(lease)
                    overdue.append((slot.resident.key.version, now - began))
                }
            }
            return overdue
        }
        for (version, held) in overdue {
            tell(.longLease(model: version.modelText, version: version.versionText, held: held))
        }
        guard let timeout else { return }
        startFreeing { state in
            state.retire(.idle) { $0.leases.isEmpty && !$0.isPinned && now - $0.lastUse >= timeout }
        }
    }
}
