import Glibc
import Synchronization

@testable import HTTPServer

/// Opens once; those who wait for it go on.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isOpen: Bool { state.withLock { $0.isOpen } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// Waits, for at most a minute, until something becomes true on another thread.
func becomesTrue(_ condition: () -> Bool) -> Bool {
    for _ in 0..<6_000 {
        if condition() { return true }
        poll(nil, 0, 10)
    }
    return false
}

extension Peer {
    /// Sends zeros until the socket takes no more for a quarter of a second.
    func sendUntilBlocked(most: Int) throws -> Int {
        let piece = [UInt8](repeating: 0, count: 1 << 18)
        var sent = 0
        while sent < most {
            var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&writable, 1, 250) == 1 else { break }
            let wanted = min(piece.count, most - sent)
            let count = Glibc.send(
                descriptor,
                piece,
                wanted,
                Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            )
            guard count > 0 || errno == EAGAIN else { throw Failure(call: "send") }
            sent += max(count, 0)
        }
        return sent
    }
}
