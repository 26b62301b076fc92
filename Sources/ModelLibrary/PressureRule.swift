/// Makes a level of what was seen; pure, with a memory of ten seconds.
///
/// Critical: tasks stood still for memory in 5 % of the last ten seconds, a
/// control group met its limit while less than a fifth of it could be had, or
/// under 5 % of the limit is available. A limit that is met by pages of files
/// alone is none: the system drops them.
/// Warning: some task waited for memory in 7.5 % of that time, or under 10 %
/// is available. A level falls only after it was not seen for ten seconds, so
/// that one that comes and goes frees models once and not every second.
struct PressureRule: Sendable {
    /// One look at the system.
    struct Sight: Equatable, Sendable {
        /// Part of the last ten seconds, in percent, in which some task waited for memory.
        var some: Double?

        /// The same for all tasks at once.
        var full: Double?

        /// How often a control group met its limit until now.
        var limitsMet: UInt64?

        var state: MemoryState?
    }

    static let memory = Duration.seconds(10)

    private(set) var level = MemoryPressure.normal
    private var lastSeen: Duration = .zero
    private var limitsMet: UInt64?

    /// - Parameters:
    ///   - sight: What is seen.
    ///   - now: When.
    /// - Returns: The new level, if it changed.
    mutating func see(_ sight: Sight, at now: Duration) -> MemoryPressure? {
        let seen = level(of: sight)
        if let met = sight.limitsMet { limitsMet = met }
        if seen >= level { lastSeen = now }
        guard seen > level || seen < level && now - lastSeen >= Self.memory else { return nil }
        level = seen
        lastSeen = now
        return seen
    }

    private func level(of sight: Sight) -> MemoryPressure {
        let share = sight.state.flatMap { state in
            state.limit.flatMap { limit in state.available.map { Double($0) / Double(max(limit, 1)) } }
        }
        let hasMetLimit = sight.limitsMet.flatMap { met in limitsMet.map { met > $0 } } ?? false
        if sight.full ?? 0 >= 5 || hasMetLimit && share ?? 0 < 0.2 || share ?? 1 < 0.05 { return .critical }
        if sight.some ?? 0 >= 7.5 || share ?? 1 < 0.1 { return .warning }
        return .normal
    }
}

extension PressureRule.Sight {
    /// Reads `/proc/pressure/memory` or a group's `memory.pressure`: lines of `some` and `full` with `avg10=`.
    mutating func read(pressure text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            let average = words.first { $0.hasPrefix("avg10=") }.flatMap { Double($0.dropFirst(6)) }
            if words.first == "some" { some = average }
            if words.first == "full" { full = average }
        }
    }
}
