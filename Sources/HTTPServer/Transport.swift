import CLinux
import Glibc
import TLS

/// What one attempt to move bytes came to.
enum IOStep {
    case moved(Int)

    /// Nothing now; try again when the socket is ready for this.
    case blocked(Readiness)

    /// The peer sends no more.
    case ended
    case broken
}

/// What a connection waits for.
struct Readiness: OptionSet {
    let rawValue: Int
    static let reading = Readiness(rawValue: 1)
    static let writing = Readiness(rawValue: 2)

    var events: UInt32 {
        (contains(.reading) ? clinux_epoll_in : 0) | (contains(.writing) ? clinux_epoll_out : 0)
    }
}

/// One connected socket, with TLS or without; never blocks.
///
/// Not Sendable: belongs to one loop.
final class Transport {
    let descriptor: Int32
    let isSecure: Bool
    private var session: TLSSession?

    /// Takes the socket over.
    ///
    /// - Returns: nil, with the socket closed, when no session can be made.
    init?(owning descriptor: Int32, tls: ServerTLS?) {
        self.descriptor = descriptor
        isSecure = tls != nil
        session = nil
        guard let tls else { return }
        do throws(TLSError) {
            session = try TLSSession(accepting: tls, socket: descriptor)
        } catch {
            return nil
        }
    }

    deinit {
        session = nil
        close(descriptor)
    }

    /// Goes on with the handshake; `.moved(0)` when it is done.
    func handshake() -> IOStep {
        guard let progress = session?.handshake() else { return .moved(0) }
        return transfer(progress)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> IOStep {
        if let progress = session?.read(into: buffer) { return transfer(progress) }
        return readRaw(into: buffer)
    }

    /// Reads past TLS, for bytes that are dropped.
    func readRaw(into buffer: UnsafeMutableRawBufferPointer) -> IOStep {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        return count == 0 ? .ended : transfer(count, blocked: .reading)
    }

    /// Sends some bytes; with `more` the system may wait for what follows before it sends a packet.
    func write(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOStep {
        if let progress = session?.write(bytes) { return transfer(progress) }
        let flags = Int32(MSG_NOSIGNAL) | (more ? Int32(MSG_MORE) : 0)
        return transfer(Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags), blocked: .writing)
    }

    /// Sends some bytes of a file; `.ended` when the file ends before `offset`.
    ///
    /// Reading the file may wait for the disk and with it this loop: files
    /// served are local, and mostly in the page cache.
    func send(
        file: Int32,
        offset: UInt64,
        length: UInt64,
        by buffer: UnsafeMutableRawBufferPointer
    ) -> IOStep {
        guard isSecure else {
            // One thread that is told of SIGPIPE would end the whole process;
            // OwnThread starts the loop with every signal blocked.
            let count = clinux_sendfile(descriptor, file, off_t(offset), Int(min(length, 1 << 20)))
            return count == 0 ? .ended : transfer(count, blocked: .writing)
        }
        // One record a call: OpenSSL takes no more at a time (RFC 8446, 5.1).
        let wanted = Int(min(length, 16 << 10))
        let count = pread(file, buffer.baseAddress, wanted, off_t(offset))
        guard count > 0 else { return count == 0 ? .ended : .broken }
        // A repeated write begins with the same bytes: the file is read anew
        // at the same place, and files served do not change.
        return write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), more: false)
    }

    /// Tells the peer that nothing more will come.
    func endWriting() {
        _ = session?.close()
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private func transfer(_ count: Int, blocked: Readiness) -> IOStep {
        if count >= 0 { return .moved(count) }
        switch errno {
        case EAGAIN, EINTR: return .blocked(blocked)
        default: return .broken
        }
    }

    private func transfer(_ progress: TLSProgress) -> IOStep {
        switch progress {
        case .done: .moved(0)
        case .bytes(let count): .moved(count)
        case .wantsRead: .blocked(.reading)
        case .wantsWrite: .blocked(.writing)
        case .closed: .ended
        case .failed: .broken
        }
    }
}
