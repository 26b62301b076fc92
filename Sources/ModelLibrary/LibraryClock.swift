import Blocking

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a library takes the time from, for deadlines and idle times alone.
public protocol LibraryClock: Sendable {
    /// Time since an arbitrary start; it never goes back and has no relation to the date.
    var now: Duration { get }

    /// Suspends the task until `time`.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(until time: Duration) async throws
}

/// The system's monotonic clock.
public struct SystemClock: LibraryClock {
    /// The clock of this machine.
    public init() {}

    /// Time since an arbitrary start, read without a system call: every use of a model asks for it.
    public var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .nanoseconds(Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Suspends the task until `time`.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until time: Duration) async throws {
        try await Blocking.sleep(seconds: max(0, (time - now).inSeconds))
    }
}

extension Duration {
    /// Longer than anything is waited for, and sums of a few of them are still numbers.
    private static let longest = Duration.seconds(100 * 365 * 86_400)

    /// This, or a hundred years where it is longer: apps say “never” by the greatest number that they find.
    var held: Duration { min(max(self, .zero - .longest), .longest) }

    /// For metrics and messages.
    var inSeconds: Double {
        self / .seconds(1)
    }
}
