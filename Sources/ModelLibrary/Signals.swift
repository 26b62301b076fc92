import Blocking

/// Reports that wait to be acted upon; of several only the newest counts.
struct Signals: Sendable {
    var level: MemoryPressure?
    var phase: LifecyclePhase?
    var isQueued = false
}

extension ModelLibrary {
    /// Reports how scarce memory is; returns at once and acts afterwards, on any thread.
    ///
    /// A warning frees idle models that are neither pinned nor of high
    /// priority, low priorities first, and a second warning those of high
    /// priority too. A critical level frees all that is not in use and refuses
    /// loads until it is over.
    public nonisolated func report(_ level: MemoryPressure) { queue { $0.level = level } }

    /// Reports where the app is in its life; returns at once and acts afterwards, on any thread.
    public nonisolated func report(_ phase: LifecyclePhase) { queue { $0.phase = phase } }

    /// Acts on what a source tells, for as long as it tells and this library lives.
    public nonisolated func follow(pressure source: any PressureSource) {
        let levels = source.levels()
        let task = Task { [weak self] in
            for await level in levels {
                guard let self else { return }
                report(level)
            }
        }
        following.withLock { $0.append(task) }
    }

    /// Acts on what a source tells, for as long as it tells and this library lives.
    public nonisolated func follow(lifecycle source: any LifecycleSource) {
        let phases = source.phases()
        let task = Task { [weak self] in
            for await phase in phases {
                guard let self else { return }
                report(phase)
            }
        }
        following.withLock { $0.append(task) }
    }

    /// One task acts on any number of reports that come before it runs, so that a storm of them costs nothing.
    private nonisolated func queue(_ note: (inout Signals) -> Void) {
        let mustStart = signals.withLock { signals in
            note(&signals)
            defer { signals.isQueued = true }
            return !signals.isQueued
        }
        if mustStart { Task { await self.act() } }
    }

    private func act() async {
        while true {
            let (level, phase) = signals.withLock { signals -> (MemoryPressure?, LifecyclePhase?) in
                defer { (signals.level, signals.phase) = (nil, nil) }
                if signals.level == nil, signals.phase == nil { signals.isQueued = false }
                return (signals.level, signals.phase)
            }
            guard level != nil || phase != nil else { return }
            if let level { await act(on: level) }
            if phase == .background {
                await leaveForeground()
                await saveRecord()
            }
        }
    }

    private func act(on level: MemoryPressure) async {
        let isRepeated = level == pressure
        pressure = level
        if !isRepeated { tell(.pressure(level)) }
        switch level {
        case .normal: wakeRoomWaiters()
        case .warning:
            await free { state in
                state.retire(.pressure(level)) { slot in
                    slot.leases.isEmpty && !slot.isPinned && (isRepeated || slot.priority < .high)
                }
            }
        case .critical:
            await free { $0.retire(.pressure(level)) { _ in true } }
            // Loads that wait for room find out that there will be none.
            wakeRoomWaiters()
        }
    }

    private func leaveForeground() async {
        let policy = configuration.background
        guard policy != .keepAll else { return }
        await free { state in
            state.retire(.background) { $0.leases.isEmpty && (policy == .keepNone || !$0.isPinned) }
        }
    }
}
