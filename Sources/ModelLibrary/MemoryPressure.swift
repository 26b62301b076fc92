/// How scarce memory is.
public enum MemoryPressure: Int, Comparable, Sendable, CaseIterable {
    /// There is enough.
    case normal

    /// Idle models should go.
    case warning

    /// Everything that is not in use must go, and nothing new may be loaded.
    case critical

    /// By how scarce it is.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// What a level of Android's `onTrimMemory` asks for; `nil` for one that says nothing about memory.
    ///
    /// Android never tells the end of one: report it by
    /// `ReportedSignals.report(androidTrimLevel:)`, which sees to that.
    ///
    /// - Parameter androidTrimLevel: `TRIM_MEMORY_RUNNING_MODERATE` is 5,
    ///   `…_RUNNING_LOW` 10, `…_RUNNING_CRITICAL` 15, `…_BACKGROUND` 40,
    ///   `…_MODERATE` 60, `…_COMPLETE` 80; `…_UI_HIDDEN`, 20, is about the
    ///   screen, and `LifecyclePhase` has that.
    public init?(androidTrimLevel: Int) {
        switch androidTrimLevel {
        case 80...: self = .critical
        case 40...: self = .warning
        case 20...: return nil
        case 15...: self = .critical
        case 5...: self = .warning
        default: return nil
        }
    }
}

/// Tells when memory becomes scarce and when it no longer is.
public protocol PressureSource: Sendable {
    /// Each change of the level, the first of which may come at once; ends when nothing more can be known.
    func levels() -> AsyncStream<MemoryPressure>
}

/// Where an app is in its life.
public enum LifecyclePhase: Equatable, Sendable {
    /// People see it.
    case foreground

    /// Nobody sees it; on Android also `TRIM_MEMORY_UI_HIDDEN`.
    case background
}

/// Tells when an app changes its phase.
public protocol LifecycleSource: Sendable {
    /// Each change.
    func phases() -> AsyncStream<LifecyclePhase>
}
