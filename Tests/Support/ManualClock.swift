package import Names
import Synchronization

/// A clock that a test moves.
package final class ManualClock: Sendable {
    private let time: Mutex<UnixTime>

    package init(_ start: UnixTime) { time = Mutex(start) }

    package var now: UnixTime { time.withLock { $0 } }

    package func advance(seconds: Int64) { time.withLock { $0 = $0.adding(seconds: seconds) } }
}
