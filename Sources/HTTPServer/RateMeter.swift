import Blocking
import Names

/// Whether a peer moves bytes as fast as it must, on average over a window.
///
/// It runs only while the peer is what the server waits for.
struct RateMeter {
    private var windowStart: MonotonicTime
    private var moved: UInt64 = 0

    init(now: MonotonicTime) { windowStart = now }

    mutating func count(_ bytes: Int) { moved += UInt64(bytes) }

    /// Whether a window has ended with too few bytes; otherwise the next begins.
    mutating func isTooSlow(at now: MonotonicTime, _ deadlines: HTTPDeadlines) -> Bool {
        let elapsed = now.seconds(since: windowStart)
        guard elapsed >= deadlines.rateWindow.seconds else { return false }
        if Double(moved) < elapsed * Double(deadlines.minimumRate.rawValue) { return true }
        windowStart = now
        moved = 0
        return false
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
