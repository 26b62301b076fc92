import Blocking
import Glibc
import Names

/// What is still to be sent of a response.
struct Outgoing {
    /// The head, and a body of bytes.
    var bytes: [UInt8]
    var sent = 0

    /// What follows from a file.
    var file: HTTPFile?
    var offset: UInt64 = 0
    var left: UInt64 = 0
}

// From the request's body to the end of its response.
extension Connection {
    /// The service wants more of the body.
    func demandBody(now: MonotonicTime) {
        guard phase == .responding else { return }
        isBodyPaused = false
        if withholdsContinue {
            withholdsContinue = false
            interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        }
        // The peer could not send while we did not read: its window begins now.
        if unreceived > 0 { meter = RateMeter(now: now) }
    }

    /// Takes the rest of the body as it comes, while the service keeps up.
    func receiveBody(now: MonotonicTime, buffer: UnsafeMutableRawBufferPointer) -> Step? {
        while !interim.isEmpty {
            switch interim.withUnsafeBytes({ transport.write($0, more: false) }) {
            case .moved(let count): interim.removeFirst(count)
            case .blocked(let readiness): return .wait(readiness)
            case .ended, .broken: return .close
            }
        }
        var moved = 0
        while unreceived > 0 && !isBodyPaused {
            guard moved < Self.turn else { return .yield }
            guard input.isEmpty else {
                let count = min(input.count, Int(clamping: unreceived))
                deliver(input[..<count])
                input.removeFirst(count)
                continue
            }
            let wanted = min(buffer.count, Int(clamping: unreceived))
            switch transport.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])) {
            case .moved(let count):
                moved += count
                if withholdsContinue {
                    // It sends without waiting for our word, and is measured from now on.
                    withholdsContinue = false
                    meter = RateMeter(now: now)
                }
                deliver(buffer[..<count])
            case .blocked(let readiness): return .wait(readiness)
            case .ended, .broken: return .close
            }
        }
        return .wait([])
    }

    private func deliver(_ bytes: some Collection<UInt8>) {
        unreceived -= UInt64(bytes.count)
        meter?.count(bytes.count)
        let mayReadOn = body?.deliver(bytes, limit: Int(state.limits.bodyBuffer.rawValue)) ?? true
        isBodyPaused = !mayReadOn
        if unreceived == 0 { body?.end() }
        if isBodyPaused || unreceived == 0 { meter = nil }
    }

    /// The service has answered.
    func answer(_ response: HTTPResponse, now: MonotonicTime) {
        guard phase == .responding else { return }
        body?.fail(.closed)
        body = nil
        task = nil
        // A peer that waits for our word may or may not send the body after
        // this answer; only the connection's end leaves no doubt.
        let canSkip = unreceived <= state.limits.unreadBody.rawValue && !(withholdsContinue && unreceived > 0)
        keepsAlive = keepsAlive && canSkip && !response.closesConnection
        write(response, now: now)
    }

    /// Begins to write a response; `advance` goes on with it.
    func write(_ response: HTTPResponse, now: MonotonicTime) {
        var response = response
        if ResponseHead.bytes(of: response, closes: false) == nil {
            response = HTTPResponse(status: 500)
        }
        let head = ResponseHead.bytes(of: response, closes: !keepsAlive) ?? []
        var outgoing = Outgoing(bytes: interim + head)
        interim = []
        if !isHead && ResponseHead.mayHaveBody(response.status) {
            switch response.body {
            case .none: break
            case .bytes(let bytes): outgoing.bytes += bytes
            case .file(let file, let offset, let length):
                outgoing.file = file
                outgoing.offset = offset
                outgoing.left = length
            }
        }
        self.outgoing = outgoing
        phase = .writing
        deadline = nil
        meter = RateMeter(now: now)
    }

    func writeResponse(now: MonotonicTime, buffer: UnsafeMutableRawBufferPointer) -> Step? {
        var moved = 0
        while true {
            guard moved < Self.turn else { return .yield }
            switch sendSome(buffer) {
            case .moved(let count):
                moved += count
                meter?.count(count)
            case .blocked(let readiness): return .wait(readiness)
            case .broken: return .close
            case .ended:
                // Also a file shorter than promised ends here, and must end
                // the connection, lest the next answer be taken for its rest.
                guard let outgoing, outgoing.left == 0 else { return .close }
                finishResponse(now: now)
                return nil
            }
        }
    }

    /// Sends what can be sent; `.ended` when everything is out.
    private func sendSome(_ buffer: UnsafeMutableRawBufferPointer) -> IOStep {
        guard var outgoing else { return .ended }
        self.outgoing = nil  // so that changing the copy copies no bytes
        defer { self.outgoing = outgoing }
        if outgoing.sent < outgoing.bytes.count {
            let transfer = outgoing.bytes.withUnsafeBytes { bytes in
                transport.write(
                    UnsafeRawBufferPointer(rebasing: bytes[outgoing.sent...]),
                    more: outgoing.left > 0
                )
            }
            if case .moved(let count) = transfer { outgoing.sent += count }
            return transfer
        }
        guard let file = outgoing.file, outgoing.left > 0 else { return .ended }
        let transfer = transport.send(
            file: file.descriptor,
            offset: outgoing.offset,
            length: outgoing.left,
            by: buffer
        )
        if case .moved(let count) = transfer {
            outgoing.offset += UInt64(count)
            outgoing.left -= UInt64(count)
        }
        return transfer
    }

    private func finishResponse(now: MonotonicTime) {
        outgoing = nil
        meter = nil
        guard keepsAlive && !isDraining else {
            transport.endWriting()
            phase = .lingering
            deadline = now.adding(seconds: state.deadlines.linger.seconds)
            return
        }
        phase = .discarding
        deadline = now.adding(seconds: state.deadlines.head.seconds)
    }

    /// Drops the unread rest of a body, then turns to the next request.
    func discardBody(now: MonotonicTime, buffer: UnsafeMutableRawBufferPointer) -> Step? {
        while unreceived > 0 {
            guard input.isEmpty else {
                let count = min(input.count, Int(clamping: unreceived))
                input.removeFirst(count)
                unreceived -= UInt64(count)
                continue
            }
            let wanted = min(buffer.count, Int(clamping: unreceived))
            switch transport.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])) {
            case .moved(let count): unreceived -= UInt64(count)
            case .blocked(let readiness): return .wait(readiness)
            case .ended, .broken: return .close
            }
        }
        guard !isDraining || !input.isEmpty else { return .close }
        if input.isEmpty { input = [] }  // gives back what a long request took
        phase = .readingHead
        scanner = HeadScanner(limit: Int(state.limits.head.rawValue))
        let patience = input.isEmpty ? state.deadlines.idle : state.deadlines.head
        deadline = now.adding(seconds: patience.seconds)
        return nil
    }

    /// Reads until the peer closes.
    ///
    /// Closing at once with bytes unread would
    /// reset the connection and could destroy the answer on its way.
    func linger(buffer: UnsafeMutableRawBufferPointer) -> Step? {
        var moved = 0
        while moved < Self.turn {
            switch transport.readRaw(into: buffer) {
            case .moved(let count): moved += count
            case .blocked(let readiness): return .wait(readiness)
            case .ended, .broken: return .close
            }
        }
        return .yield
    }
}
