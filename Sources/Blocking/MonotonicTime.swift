import CLinux

/// A point on the system's monotonic clock, for deadlines and rates only.
///
/// It has no relation to the date, and neither setting the clock nor a
/// library that fakes it moves it.
package struct MonotonicTime: Comparable, Hashable, Sendable {
    /// Nanoseconds since an arbitrary start.
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    package static var now: MonotonicTime { MonotonicTime(nanoseconds: clinux_monotonic_nanoseconds()) }

    package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// This point moved by `seconds`; negative and absurd values are held at the ends.
    package func adding(seconds: Double) -> MonotonicTime {
        guard seconds > 0 else { return self }
        let step = seconds >= 9e9 ? UInt64(9e18) : UInt64(seconds * 1e9)
        let (sum, overflow) = nanoseconds.addingReportingOverflow(step)
        return MonotonicTime(nanoseconds: overflow ? .max : sum)
    }

    /// Seconds from `earlier` to here; zero when `earlier` is later.
    package func seconds(since earlier: MonotonicTime) -> Double {
        nanoseconds > earlier.nanoseconds ? Double(nanoseconds - earlier.nanoseconds) / 1e9 : 0
    }
}
