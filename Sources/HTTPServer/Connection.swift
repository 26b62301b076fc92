import Blocking
import Glibc
import Names

/// One connection and the request that it is about, as a machine that is
/// advanced whenever something may have changed: the socket is ready, the
/// service has answered or wants more of the body.
///
/// Requests are answered one after another. While one is in work, nothing
/// past its body is read; what a pipelining peer sent along waits in `input`.
///
/// Not Sendable: belongs to one loop.
final class Connection {
    enum Phase {
        case handshaking

        /// Between requests, or within a head.
        case readingHead

        /// The service has the request; its body may still be arriving.
        case responding
        case writing

        /// The response is out; the short rest of an unread body is dropped.
        case discarding

        /// Our side is closed; the peer may read the last answer and close.
        case lingering
    }

    /// What the loop does next with the connection.
    enum Step {
        case wait(Readiness)

        /// More could be done at once, but other connections come first.
        case yield
        case close
    }

    /// The most bytes moved before other connections have their turn.
    static let turn = 1 << 20

    let token: UInt64
    let transport: Transport
    let state: ServerState
    let mailbox: Mailbox
    let peer: SocketName
    var phase = Phase.readingHead
    var isDraining = false

    /// When the present phase ends, if it may not last.
    var deadline: MonotonicTime?

    /// Runs while bytes of a body or a response are waited for.
    var meter: RateMeter?

    /// Received and not yet used.
    var input: [UInt8] = []
    var scanner: HeadScanner

    // The request in work.
    var task: Task<Void, Never>?
    var body: RequestBody?
    var unreceived: UInt64 = 0
    var isBodyPaused = false
    var withholdsContinue = false
    var interim: [UInt8] = []
    var keepsAlive = true
    var isHead = false
    var outgoing: Outgoing?

    /// What the loop has asked epoll for.
    var interest = Readiness.reading

    init(
        token: UInt64,
        transport: Transport,
        peer: SocketName,
        state: ServerState,
        mailbox: Mailbox,
        now: MonotonicTime
    ) {
        self.token = token
        self.transport = transport
        self.peer = peer
        self.state = state
        self.mailbox = mailbox
        scanner = HeadScanner(limit: Int(state.limits.head.rawValue))
        if transport.isSecure { phase = .handshaking }
        deadline = now.adding(seconds: state.deadlines.head.seconds)
    }

    /// Does what can be done now.
    func advance(now: MonotonicTime, buffer: UnsafeMutableRawBufferPointer) -> Step {
        while true {
            let step: Step? =
                switch phase {
                case .handshaking: handshake()
                case .readingHead: readHead(now: now, buffer: buffer)
                case .responding: receiveBody(now: now, buffer: buffer)
                case .writing: writeResponse(now: now, buffer: buffer)
                case .discarding: discardBody(now: now, buffer: buffer)
                case .lingering: linger(buffer: buffer)
                }
            if let step { return step }
        }
    }

    /// Does what a passed deadline asks for; nil if none has passed.
    func expire(now: MonotonicTime, buffer: UnsafeMutableRawBufferPointer) -> Step? {
        if let deadline, now >= deadline {
            guard phase == .readingHead, !input.isEmpty else { return .close }
            refuse(.headTooSlow, now: now)
            return advance(now: now, buffer: buffer)
        }
        return meter?.isTooSlow(at: now, state.deadlines) == true ? .close : nil
    }

    /// Ends what can be ended when the server drains.
    ///
    /// - Returns: whether the connection may be closed at once.
    func drain() -> Bool {
        isDraining = true
        keepsAlive = false
        switch phase {
        case .handshaking: return true
        case .readingHead: return input.isEmpty
        case .responding, .writing, .discarding, .lingering: return false
        }
    }

    /// Lets go of the request in work.
    func abandon() {
        body?.fail(.disconnected)
        task?.cancel()
        state.counts.release(peer.countedAs)
    }

    // MARK: - Heads

    /// nil means: go on in the new phase.
    private func handshake() -> Step? {
        switch transport.handshake() {
        case .moved:
            phase = .readingHead
            return nil
        case .blocked(let readiness): return .wait(readiness)
        case .ended, .broken: return .close
        }
    }

    private func readHead(now: MonotonicTime, buffer: UnsafeMutableRawBufferPointer) -> Step? {
        while true {
            do throws(HTTPRefusal) {
                if let length = try scanner.scan(input.span) {
                    let head = try RequestHead(Array(input[..<length]), limits: state.limits)
                    input.removeFirst(length)
                    begin(head, now: now)
                    return nil
                }
            } catch {
                refuse(error, now: now)
                return nil
            }
            switch transport.read(into: buffer) {
            case .moved(let count):
                if input.isEmpty { deadline = now.adding(seconds: state.deadlines.head.seconds) }
                input.append(contentsOf: buffer[..<count])
            case .blocked(let readiness): return .wait(readiness)
            case .ended, .broken: return .close
            }
        }
    }

    private func begin(_ head: RequestHead, now: MonotonicTime) {
        keepsAlive = head.keepsAlive && !isDraining
        isHead = head.method == .head
        unreceived = head.declaredLength
        withholdsContinue = head.expectsContinue && unreceived > 0 && input.isEmpty
        let request = HTTPRequest(
            method: head.method,
            target: head.target,
            fields: head.fields,
            remoteAddress: peer.text,
            isSecure: transport.isSecure,
            declaredLength: head.declaredLength
        )
        let body = RequestBody(awaitsDemand: withholdsContinue) { [mailbox, token] in
            mailbox.post(.demand(token))
        }
        if unreceived == 0 { body.end() }
        self.body = body
        isBodyPaused = false
        deadline = nil
        meter = unreceived > 0 && !withholdsContinue ? RateMeter(now: now) : nil
        phase = .responding
        // Unstructured: the loop is no task. `abandon` cancels it.
        task = Task { [service = state.service, mailbox, token] in
            mailbox.post(.response(token, await service.respond(to: request, body: body)))
        }
    }

    private func refuse(_ refusal: HTTPRefusal, now: MonotonicTime) {
        keepsAlive = false
        isHead = false
        unreceived = 0
        write(.text("\(refusal)\n", status: refusal.status), now: now)
    }
}
