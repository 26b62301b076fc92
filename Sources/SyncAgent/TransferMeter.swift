package import Blocking
import Names

/// Turns progress events into a rate and a remaining time, for people.
///
/// The rate is that of the last ten seconds, so that a line that got slower
/// shows, and a moment without bytes does not make the time jump.
public struct TransferMeter: Sendable {
    private var samples: [(time: MonotonicTime, verified: UInt64)] = []

    private static let window = 10.0

    /// Starts with nothing seen.
    public init() {}

    /// Verified bytes a second; `nil` until there is something to measure.
    public private(set) var bytesPerSecond: Double?

    /// Seconds until all is there at this rate; `nil` while that is not known.
    public private(set) var secondsLeft: Double?

    /// Takes a progress event.
    public mutating func note(verified: UInt64, of total: UInt64) {
        note(verified: verified, of: total, at: .now)
    }

    package mutating func note(verified: UInt64, of total: UInt64, at time: MonotonicTime) {
        samples.append((time, verified))
        // The last one before the window stays, so that the whole window is measured.
        while samples.count > 2, time.seconds(since: samples[1].time) >= Self.window { samples.removeFirst() }
        guard let first = samples.first else { return }
        let seconds = time.seconds(since: first.time)
        guard seconds >= 0.5, verified > first.verified else { return }
        let rate = Double(verified - first.verified) / seconds
        bytesPerSecond = rate
        secondsLeft = verified < total ? Double(total - verified) / rate : 0
    }
}
