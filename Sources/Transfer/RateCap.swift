package import Blocking
package import Names

/// Bytes a second that all transfers of a fetcher share.
///
/// Each piece takes its time on one line, so the cap holds however many
/// transfers run. A pause is not saved up for later, but for a twentieth of a
/// second, which evens out what the system's clock ticks leave.
package final class RateCap: Sendable {
    package let bytesPerSecond: ByteCount
    private let lineIsFree: Guarded<MonotonicTime>

    /// The most that is saved up, in seconds.
    private static let burst = 0.05

    /// - Precondition: The rate is positive.
    package init(bytesPerSecond: ByteCount) {
        precondition(bytesPerSecond.rawValue > 0, "a rate of nothing never ends")
        self.bytesPerSecond = bytesPerSecond
        lineIsFree = Guarded(.now)
    }

    /// Takes the time for `count` bytes that came.
    ///
    /// - Returns: Seconds to wait before more is taken.
    package func seconds(after count: Int, now: MonotonicTime) -> Double {
        let time = Double(count) / Double(bytesPerSecond.rawValue)
        return lineIsFree.withLock { free in
            let behind = now.seconds(since: free)
            // What was missed beyond the burst is gone.
            if behind > Self.burst { free = free.adding(seconds: behind - Self.burst) }
            free = free.adding(seconds: time)
            return free.seconds(since: now)
        }
    }

    /// Bytes that may wait in the system's memory for one connection: a quarter of a second's worth.
    ///
    /// Without a bound a server would send millions of bytes before the first pause.
    var receiveBuffer: Int32 { Int32(clamping: max(32 << 10, min(bytesPerSecond.rawValue / 4, 4 << 20))) }
}
