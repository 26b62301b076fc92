import Blocking
import Glibc
import Synchronization

/// The part of a ``FaultServer`` that its threads share.
final class FaultServerState: Sendable {
    private let listener: Int32
    private let isOver = Cancellation()
    let plan: Guarded<FaultServer.Plan>
    let requests = Guarded<[FaultRequest]>([])
    let connections = Atomic<Int>(0)
    let bytesSent = Atomic<Int>(0)

    init(listener: Int32, plan: @escaping FaultServer.Plan) {
        self.listener = listener
        self.plan = Guarded(plan)
    }

    deinit { close(listener) }

    func stop() {
        isOver.cancel()
        shutdown(listener, Int32(SHUT_RDWR))
    }

    func acceptAll() {
        while true {
            let socket = accept(listener, nil, nil)
            if isOver.isCancelled || (socket < 0 && errno != EINTR) {
                if socket >= 0 { close(socket) }
                return
            }
            guard socket >= 0 else { continue }
            connections.add(1, ordering: .relaxed)
            let began = OwnThread.start { [self] in
                serve(socket)
                close(socket)
            }
            if !began { close(socket) }
        }
    }

    private func serve(_ socket: Int32) {
        var buffer: [UInt8] = []
        while let request = readRequest(socket, &buffer) {
            let number = requests.withLock { requests in
                requests.append(request)
                return requests.count - 1
            }
            let answer = plan.withLock { $0 }(request, number)
            guard send(answer, to: request, on: socket) else { return }
        }
    }

    private func readRequest(_ socket: Int32, _ buffer: inout [UInt8]) -> FaultRequest? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let headEnd = buffer.firstRange(of: end) {
                let head = String(decoding: buffer[..<headEnd.lowerBound], as: UTF8.self)
                buffer.removeSubrange(..<headEnd.upperBound)
                return complete(head, socket, &buffer)
            }
            guard receive(socket, &buffer) else { return nil }
        }
    }

    private func complete(_ head: String, _ socket: Int32, _ buffer: inout [UInt8]) -> FaultRequest? {
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        let length = fields["content-length"].flatMap { Int($0) } ?? 0
        if fields["expect"] != nil { _ = write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), socket) }
        while buffer.count < length {
            guard receive(socket, &buffer) else { return nil }
        }
        let body = Array(buffer[..<length])
        buffer.removeSubrange(..<length)
        return FaultRequest(method: String(words[0]), path: String(words[1]), fields: fields, body: body)
    }

    private func receive(_ socket: Int32, _ buffer: inout [UInt8]) -> Bool {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(socket, &piece, piece.count, 0)
        guard count > 0 else { return false }
        buffer += piece[..<count]
        return true
    }

    /// Returns whether the connection goes on.
    private func send(_ answer: FaultAnswer, to request: FaultRequest, on socket: Int32) -> Bool {
        var head = "HTTP/1.1 \(answer.status) Status\r\n"
        for field in answer.fields { head += "\(field.name): \(field.value)\r\n" }
        let announced = answer.announced ?? answer.body.count
        if announced >= 0 && answer.status != 304 { head += "Content-Length: \(announced)\r\n" }
        guard write(Array((head + "\r\n").utf8), socket) else { return false }
        let body = request.method == "HEAD" ? [] : answer.body
        switch answer.delivery {
        case .whole:
            return sendBody(body[...], socket) && announced == body.count
        case .cut(let count):
            _ = sendBody(body.prefix(count), socket)
            return false
        case .stall(let count):
            _ = sendBody(body.prefix(count), socket)
            _ = isOver.wait(seconds: 60)
            return false
        case .drip(let count):
            var rest = body[...]
            while !rest.isEmpty {
                guard sendBody(rest.prefix(count), socket) else { return false }
                rest = rest.dropFirst(count)
                if isOver.wait(seconds: 0.01) { return false }
            }
            return announced == body.count
        }
    }

    private func sendBody(_ bytes: ArraySlice<UInt8>, _ socket: Int32) -> Bool {
        guard write(Array(bytes), socket) else { return false }
        bytesSent.add(bytes.count, ordering: .relaxed)
        return true
    }

    private func write(_ bytes: [UInt8], _ socket: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.send(
                    socket,
                    buffer.baseAddress?.advanced(by: done),
                    bytes.count - done,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}

extension [UInt8] {
    fileprivate func firstRange(of pattern: [UInt8]) -> Range<Int>? {
        guard count >= pattern.count else { return nil }
        for start in 0...count - pattern.count
        where self[start..<start + pattern.count].elementsEqual(pattern) {
            return start..<start + pattern.count
        }
        return nil
    }
}
