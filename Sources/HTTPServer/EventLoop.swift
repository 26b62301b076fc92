import Blocking
import CLinux
import Glibc
import Synchronization

/// One thread's share of the connections.
///
/// All waiting is `epoll_wait` with a relative time-out; deadlines are points
/// on the monotonic clock, looked at in one sweep over the connections several
/// times within the shortest of them. So a peer is cut off when its time is
/// over whatever it sends meanwhile, and a faked date changes nothing.
///
/// Not Sendable: made and used on its own thread.
final class EventLoop {
    private enum Token {
        static let listener: UInt64 = 0
        static let mailbox: UInt64 = 1
        static let firstConnection: UInt64 = 2
    }

    private let state: ServerState
    private let mailbox: Mailbox
    private let epoll: Int32
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 64)
    private let sweepInterval: Double
    private var connections: [UInt64: Connection] = [:]
    private var nextToken = Token.firstConnection
    private var yielded: [UInt64] = []
    private var nextSweep: MonotonicTime
    private var isAccepting = false
    private var isDraining = false
    private var drainDeadline: MonotonicTime?

    init(state: ServerState, mailbox: Mailbox) throws(HTTPServerError) {
        self.state = state
        self.mailbox = mailbox
        epoll = clinux_epoll_create()
        let deadlines = state.deadlines
        let shortest =
            [
                deadlines.head, deadlines.idle, deadlines.rateWindow, deadlines.drain, deadlines.linger,
            ].map(\.seconds).min() ?? 1
        sweepInterval = min(max(shortest / 8, 0.005), 0.5)
        nextSweep = .now
        guard epoll >= 0 else { throw .system(call: "epoll_create1", code: errno) }
        guard clinux_epoll_add(epoll, mailbox.descriptor, clinux_epoll_in, Token.mailbox) == 0 else {
            throw .system(call: "epoll_ctl", code: errno)
        }
    }

    deinit {
        if epoll >= 0 { close(epoll) }
        buffer.deallocate()
    }

    /// Serves until drained.
    func run() {
        var events = [clinux_event](repeating: clinux_event(), count: 64)
        accept(on: true)
        while !(isDraining && connections.isEmpty) {
            let found = clinux_epoll_wait(epoll, &events, Int32(events.count), patience())
            let now = MonotonicTime.now
            let ready = yielded
            yielded = []
            for event in events.prefix(Int(max(found, 0))) {
                switch event.token {
                case Token.listener: acceptSome(now: now)
                case Token.mailbox: readMail(now: now)
                default: meet(event, now: now)
                }
            }
            for token in ready { advance(token, now: now) }
            if now >= nextSweep { sweep(now: now) }
        }
    }

    /// Milliseconds that the loop may sleep; -1 for ever.
    private func patience() -> Int32 {
        if !yielded.isEmpty { return 0 }
        if connections.isEmpty && isAccepting { return -1 }
        return Int32(nextSweep.seconds(since: .now) * 1_000) + 1
    }

    private func sweep(now: MonotonicTime) {
        nextSweep = now.adding(seconds: sweepInterval)
        if !isAccepting && !isDraining { accept(on: true) }
        let isOver = drainDeadline.map { now >= $0 } ?? false
        for (token, connection) in connections {
            if isOver {
                settle(connection, .close)
            } else if let step = connection.expire(now: now, buffer: buffer), connections[token] != nil {
                settle(connection, step)
            }
        }
    }

    // MARK: - Events

    private func meet(_ event: clinux_event, now: MonotonicTime) {
        guard let connection = connections[event.token] else { return }
        // While the service works nothing may be asked of the socket, and
        // these come all the same: the peer has gone.
        if connection.phase == .responding && event.events & clinux_epoll_hangup != 0 {
            settle(connection, .close)
        } else {
            settle(connection, connection.advance(now: now, buffer: buffer))
        }
    }

    private func advance(_ token: UInt64, now: MonotonicTime) {
        guard let connection = connections[token] else { return }
        settle(connection, connection.advance(now: now, buffer: buffer))
    }

    private func readMail(now: MonotonicTime) {
        for message in mailbox.take() {
            switch message {
            case .response(let token, let response):
                connections[token]?.answer(response, now: now)
                advance(token, now: now)
            case .demand(let token):
                connections[token]?.demandBody(now: now)
                advance(token, now: now)
            case .drain:
                drain(now: now)
            }
        }
    }

    private func drain(now: MonotonicTime) {
        guard !isDraining else { return }
        isDraining = true
        accept(on: false)
        state.listener.leave()
        drainDeadline = now.adding(seconds: state.deadlines.drain.seconds)
        for connection in connections.values where connection.drain() { settle(connection, .close) }
    }

    /// Carries out what a connection came to.
    private func settle(_ connection: Connection, _ step: Connection.Step) {
        switch step {
        case .wait(let readiness):
            guard readiness != connection.interest else { return }
            connection.interest = readiness
            clinux_epoll_change(epoll, connection.transport.descriptor, readiness.events, connection.token)
        case .yield:
            yielded.append(connection.token)
        case .close:
            clinux_epoll_remove(epoll, connection.transport.descriptor)
            connection.abandon()
            connections[connection.token] = nil
        }
    }

    // MARK: - Accepting

    private func accept(on: Bool) {
        guard on != isAccepting else { return }
        let listener = state.listener.descriptor
        if on {
            let events = clinux_epoll_in | clinux_epoll_exclusive
            isAccepting = clinux_epoll_add(epoll, listener, events, Token.listener) == 0
        } else {
            clinux_epoll_remove(epoll, listener)
            isAccepting = false
        }
    }

    private func acceptSome(now: MonotonicTime) {
        for _ in 0..<64 where isAccepting {
            let descriptor = clinux_accept4(state.listener.descriptor, Int32(SOCK_NONBLOCK.rawValue))
            guard descriptor < 0 else {
                welcome(descriptor, now: now)
                continue
            }
            switch errno {
            case EAGAIN: return
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                // No room: the next sweep tries again, else this would spin.
                accept(on: false)
                return
            default: continue
            }
        }
    }

    private func welcome(_ descriptor: Int32, now: MonotonicTime) {
        guard let peer = SocketName(of: descriptor, side: getpeername), state.counts.admit(peer.countedAs)
        else {
            close(descriptor)
            return
        }
        setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY)
        guard let transport = Transport(owning: descriptor, tls: state.tls.withLock { $0 }) else {
            state.counts.release(peer.countedAs)
            return
        }
        let connection = Connection(
            token: nextToken,
            transport: transport,
            peer: peer,
            state: state,
            mailbox: mailbox,
            now: now
        )
        nextToken += 1
        connections[connection.token] = connection
        guard clinux_epoll_add(epoll, descriptor, connection.interest.events, connection.token) == 0 else {
            settle(connection, .close)
            return
        }
        if connections.count == 1 { nextSweep = now.adding(seconds: sweepInterval) }
    }
}
