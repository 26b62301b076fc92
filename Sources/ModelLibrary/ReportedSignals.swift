import Blocking

/// Pressure and phases that the app reports itself, from whatever callbacks its platform has.
///
/// Some platforms tell that memory is scarce and never that it no longer is:
/// Android's trim levels, and the memory warnings of UIKit. Such a level ends
/// with the next one, when the app comes back to the foreground, and after
/// half a minute in which nothing more is said; a system that is still short of
/// memory says so again, and the gate asks for what is left before each load.
public final class ReportedSignals: PressureSource, LifecycleSource {
    /// For how long a level counts whose end nobody tells.
    static let patience = Duration.seconds(30)

    /// What was reported last, in the order of reports.
    private struct Last: Sendable {
        var number = 0

        /// Whether nobody will tell the end of it.
        var isPassing = false
    }

    private let pressure = AsyncStream.makeStream(
        of: MemoryPressure.self,
        bufferingPolicy: .bufferingNewest(16)
    )
    private let phase = AsyncStream.makeStream(of: LifecyclePhase.self, bufferingPolicy: .bufferingNewest(16))
    private let last = Guarded(Last())
    private let clock: any LibraryClock

    /// Nothing reported yet.
    ///
    /// - Parameter clock: By which a level passes whose end nobody tells.
    public init(clock: any LibraryClock = SystemClock()) { self.clock = clock }

    /// What was reported, for one library.
    public func levels() -> AsyncStream<MemoryPressure> { pressure.stream }

    /// What was reported, for one library.
    public func phases() -> AsyncStream<LifecyclePhase> { phase.stream }

    /// Reports a level, which counts until the next; returns at once, on any thread.
    public func report(_ level: MemoryPressure) { _ = tell(level, isPassing: false) }

    /// Reports a phase; returns at once, on any thread.
    ///
    /// The foreground ends a level whose end the platform does not tell.
    public func report(_ phase: LifecyclePhase) {
        self.phase.continuation.yield(phase)
        guard phase == .foreground else { return }
        last.withLock { last in
            guard last.isPassing else { return }
            last.isPassing = false
            last.number += 1
            pressure.continuation.yield(.normal)
        }
    }

    /// Reports what Android's `onTrimMemory` was called with; returns at once, on the main thread too.
    public func report(androidTrimLevel level: Int) {
        if level == 20 { return report(.background) }
        if let pressure = MemoryPressure(androidTrimLevel: level) { reportPassing(pressure) }
    }

    /// Reports a level whose end nobody will tell.
    func reportPassing(_ level: MemoryPressure) {
        let number = tell(level, isPassing: true)
        let (clock, due) = (clock, clock.now + Self.patience)
        Task { [weak self] in
            guard (try? await clock.sleep(until: due)) != nil else { return }
            self?.pass(number)
        }
    }

    private func tell(_ level: MemoryPressure, isPassing: Bool) -> Int {
        last.withLock { last in
            last.number += 1
            last.isPassing = isPassing
            pressure.continuation.yield(level)
            return last.number
        }
    }

    private func pass(_ number: Int) {
        last.withLock { last in
            guard last.isPassing, last.number == number else { return }
            last.isPassing = false
            pressure.continuation.yield(.normal)
        }
    }
}
