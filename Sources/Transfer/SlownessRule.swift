/// When a location is left because another is faster, although it keeps above the least rate.
///
/// What counts is what a location gave while nothing of ours held it up. One
/// that would take longer than ``patience`` for the rest is left: for one that
/// was not measured yet, else for the fastest that was measured to be faster by
/// more than ``factor``. So locations that are about alike are not left for
/// each other, and one that stands alone is left for none.
package struct SlownessRule: Sendable, Equatable {
    /// Seconds that the rest may take.
    package var patience = 10.0

    /// Seconds over which a rate is measured.
    package var window = 5.0

    /// How many times as fast another must be.
    package var factor = 2.0

    /// Bytes that are enough to measure a location that is faster than the window is long.
    package var sample: UInt64 = 256 << 10

    package init() {}

    /// Another location and its rate in bytes a second; `nil` before it was measured.
    package struct Other: Sendable, Equatable {
        package let index: Int
        package let rate: Double?

        package init(_ index: Int, rate: Double?) {
            self.index = index
            self.rate = rate
        }
    }

    /// Which location a download is left for.
    ///
    /// - Parameters:
    ///   - rate: Of the present one, in bytes a second.
    ///   - remaining: Bytes that are missing.
    ///   - others: That may be asked, in their order.
    /// - Returns: `nil` when none.
    package func better(than rate: Double, for remaining: UInt64, among others: [Other]) -> Int? {
        guard Double(remaining) > rate * patience else { return nil }
        return others.first { $0.rate == nil }?.index ?? faster(than: rate, among: others)
    }

    /// Which location a download begins with, in place of the one whose turn it is.
    ///
    /// - Parameters:
    ///   - rate: Of the one whose turn it is; `nil` before it was measured.
    ///   - remaining: Bytes that are missing.
    ///   - others: That may be asked, in their order.
    /// - Returns: `nil` when that one is right.
    package func first(insteadOf rate: Double?, for remaining: UInt64, among others: [Other]) -> Int? {
        guard let rate else { return nil }
        guard others.allSatisfy({ $0.rate != nil }) else {
            return better(than: rate, for: remaining, among: others)
        }
        return faster(than: rate, among: others)
    }

    private func faster(than rate: Double, among others: [Other]) -> Int? {
        let fastest = others.max { $0.rate ?? 0 < $1.rate ?? 0 }
        return fastest.flatMap { $0.rate ?? 0 > rate * factor ? $0.index : nil }
    }
}

/// Measures the rate of one stream.
struct RateMeter {
    let rule: SlownessRule
    private var since = 0.0
    private var before: UInt64 = 0

    init(_ rule: SlownessRule) { self.rule = rule }

    /// Takes how far the stream is.
    ///
    /// - Parameters:
    ///   - received: Body bytes so far.
    ///   - seconds: In which nothing of ours held them up.
    /// - Returns: Bytes a second, whenever a window is over.
    mutating func rate(at received: UInt64, after seconds: Double) -> Double? {
        guard seconds - since >= rule.window else { return nil }
        defer { (since, before) = (seconds, received) }
        return Double(received - min(before, received)) / (seconds - since)
    }

    /// The rate of a stream that ended before a window was over; `nil` when it was too short to say.
    func rate(atEnd received: UInt64, after seconds: Double) -> Double? {
        guard since == 0, received >= rule.sample else { return nil }
        return Double(received) / max(seconds, 1e-6)
    }
}
