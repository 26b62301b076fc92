import Blocking
package import Names

/// A clock that a test moves.
package final class ManualClock: Sendable {
    private let time: Guarded<UnixTime>

    package init(_ start: UnixTime) { time = Guarded(start) }

    package var now: UnixTime {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    package func advance(seconds: Int64) { time.withLock { $0 = $0.adding(seconds: seconds) } }
}
