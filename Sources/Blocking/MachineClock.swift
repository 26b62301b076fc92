import Glibc
package import Names

/// This machine's clock: the one place where the time of day is read that anything is decided by.
///
/// Rules are given a time and never ask for it; what is signed counts more than
/// what this says.
package enum MachineClock {
    package static var now: UnixTime { UnixTime(rawValue: Int64(time(nil))) }
}
