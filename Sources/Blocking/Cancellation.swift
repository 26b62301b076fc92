import CLinux
import Glibc
import Synchronization

/// A flag that one thread sets and another, which may be blocked, notices.
package final class Cancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    /// Readable once cancelled: for `poll` beside other descriptors.
    package let descriptor: Int32

    package init() { descriptor = clinux_eventfd() }

    deinit { close(descriptor) }

    package var isCancelled: Bool { flag.load(ordering: .acquiring) }

    package func cancel() {
        flag.store(true, ordering: .releasing)
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Blocks the thread for `seconds`, or until cancelled.
    ///
    /// - Parameter seconds: How long.
    /// - Returns: Whether it was cancelled.
    package func wait(seconds: Double) -> Bool {
        let end = MonotonicTime.now.adding(seconds: seconds)
        while !isCancelled {
            let left = end.seconds(since: .now)
            guard left > 0 else { return false }
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&watched, 1, Int32(min(left * 1_000 + 1, 60_000)))
        }
        return true
    }
}
