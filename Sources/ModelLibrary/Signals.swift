import Blocking

/// Reports that wait to be acted upon; of several of one source only the newest counts.
struct Signals: Sendable {
    /// What the app itself reports.
    static let app = 0

    /// What each source said last, since reports were acted upon; `nil` for one that ended.
    var levels: [Int: MemoryPressure?] = [:]
    var phase: LifecyclePhase?
    var isQueued = false
    private var lastSource = app

    mutating func nextSource() -> Int {
        lastSource += 1
        return lastSource
    }
}

/// What each source says of memory, as far as it was acted upon.
struct PressureLevels: Sendable {
    private var levels: [Int: MemoryPressure] = [:]

    /// The worst that any source says.
    var worst: MemoryPressure { levels.values.max() ?? .normal }

    /// Takes what sources said since.
    ///
    /// - Returns: Whether a source says the worst level, and whether it did before.
    mutating func follow(_ news: [Int: MemoryPressure?]) -> (isReported: Bool, isRepeated: Bool) {
        let before = levels
        for (source, level) in news { levels[source] = level }
        let reporting = news.compactMap { source, level in level == worst ? source : nil }
        return (!reporting.isEmpty, reporting.contains { before[$0] == worst })
    }
}

extension ModelLibrary {
    /// Reports how scarce memory is; returns at once and acts afterwards, on any thread.
    ///
    /// A warning frees idle models that are neither pinned nor of high
    /// priority, low priorities first, and a second warning those of high
    /// priority too. A critical level frees all that is not in use, and what is
    /// when its last lease ends, and refuses loads until it is over. It counts
    /// beside what sources tell that are followed, of which the worst does: who
    /// reports a level reports its end too.
    public nonisolated func report(_ level: MemoryPressure) { queue { $0.levels[Signals.app] = level } }

    /// Reports where the app is in its life; returns at once and acts afterwards, on any thread.
    public nonisolated func report(_ phase: LifecyclePhase) { queue { $0.phase = phase } }

    /// Acts on what a source tells, for as long as it tells and this library lives.
    ///
    /// Of several sources the worst level counts, so that one which falls back to normal hides no other.
    public nonisolated func follow(pressure source: any PressureSource) {
        let levels = source.levels()
        let number = signals.withLock { $0.nextSource() }
        let task = Task { [weak self] in
            for await level in levels {
                guard let self else { return }
                queue { $0.levels[number] = level }
            }
            self?.queue { $0.levels[number] = .some(nil) }
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

    private func act() {
        while true {
            let (levels, phase) = signals.withLock { signals -> ([Int: MemoryPressure?], LifecyclePhase?) in
                defer { (signals.levels, signals.phase) = ([:], nil) }
                if signals.levels.isEmpty, signals.phase == nil { signals.isQueued = false }
                return (signals.levels, signals.phase)
            }
            guard !levels.isEmpty || phase != nil else { return }
            // Nothing is waited for: what the system reports next is more urgent than an engine that takes its time,
            // a disk, or another writer.
            if !levels.isEmpty { act(on: levels) }
            if phase == .background {
                leaveForeground()
                Task { await saveRecord() }
            }
        }
    }

    private func act(on news: [Int: MemoryPressure?]) {
        let before = pressure
        let (isReported, isRepeated) = levels.follow(news)
        let level = pressure
        guard level != before || isReported else { return }
        if level != before { tell(.pressure(level)) }
        switch level {
        case .normal: wakeRoomWaiters()
        case .warning:
            wakeRoomWaiters()
            startFreeing { state in
                state.retire(.pressure(level)) { slot in
                    slot.leases.isEmpty && !slot.isPinned && (isRepeated || slot.priority < .high)
                }
            }
        case .critical:
            // What is being loaded goes with those who wait for it.
            for key in loads.keys where loads[key]?.retirement == nil {
                loads[key]?.retirement = .pressure(level)
            }
            startFreeing { $0.retire(.pressure(level)) { _ in true } }
            // Loads that wait for room find out that there will be none.
            wakeRoomWaiters()
        }
    }

    private func leaveForeground() {
        let policy = configuration.background
        guard policy != .keepAll else { return }
        startFreeing { state in
            state.retire(.background) { $0.leases.isEmpty && (policy == .keepNone || !$0.isPinned) }
        }
    }
}
