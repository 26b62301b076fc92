package import Names
import Synchronization

/// A clock that a test moves.
package final class ManualClock: Sendable {
    private let time: Mutex<UnixTime>

    package init(_ start: UnixTime) { time = Mutex(start) }

    package var now: UnixTime {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    package func advance(seconds: Int64) { time.withLock { $0 = $0.adding(seconds: seconds) } }
}
