import Glibc
import TLS
import Testing

@testable import HTTPServer

/// A `Peer` that speaks TLS.
final class SecurePeer {
    private let peer: Peer
    private var session: TLSSession?

    init(port: Int, trusting tls: ClientTLS, host: String = "127.0.0.1") throws {
        peer = try Peer(port: port)
        _ = fcntl(peer.descriptor, F_SETFL, fcntl(peer.descriptor, F_GETFL) | O_NONBLOCK)
        session = try TLSSession(connecting: tls, socket: peer.descriptor, host: host)
    }

    deinit { session = nil }

    /// The protocol version agreed on.
    func handshake() throws -> String {
        while try mustRepeat(session?.handshake()) {}
        return session?.version ?? ""
    }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let progress = rest.withUnsafeBytes { session?.write($0) }
            if case .bytes(let count) = progress {
                rest = rest.dropFirst(count)
            } else {
                _ = try mustRepeat(progress)
            }
        }
    }

    /// Everything up to the end of the session.
    func receiveAll() throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let progress = buffer.withUnsafeMutableBytes { session?.read(into: $0) }
            switch progress {
            case .bytes(let count)?: all += buffer[..<count]
            case .closed?: return all
            default: _ = try mustRepeat(progress)
            }
        }
    }

    /// Waits for what the session waits for.
    ///
    /// - Returns: whether the same call must be made again.
    private func mustRepeat(_ progress: TLSProgress?) throws -> Bool {
        var events = pollfd(fd: peer.descriptor, events: 0, revents: 0)
        switch progress {
        case .wantsRead?: events.events = Int16(POLLIN)
        case .wantsWrite?: events.events = Int16(POLLOUT)
        case .done?, .bytes?: return false
        default: throw Peer.Failure(call: "TLS: \(String(describing: progress))")
        }
        guard poll(&events, 1, 60_000) == 1 else { throw Peer.Failure(call: "TLS: nothing within a minute") }
        return true
    }
}
