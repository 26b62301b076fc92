import Glibc
import TLS

/// Two sockets that do not block, joined to each other.
final class Duplex {
    let client: Int32
    let server: Int32
    private var isClientOpen = true

    init() {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        precondition(socketpair(AF_UNIX, kind, 0, &ends) == 0, "no sockets")
        client = ends[0]
        server = ends[1]
    }

    deinit {
        dropClient()
        close(server)
    }

    /// The client goes away without a word.
    func dropClient() {
        // Also where a child of another test has the socket still.
        if isClientOpen {
            shutdown(client, Int32(SHUT_RDWR))
            close(client)
        }
        isClientOpen = false
    }
}

/// Lets both ends take turns until neither waits for the other any more.
func shakeHands(
    _ client: inout TLSSession,
    _ server: inout TLSSession
) -> (client: TLSProgress, server: TLSProgress) {
    var ends = (client: TLSProgress.wantsRead, server: TLSProgress.wantsRead)
    for _ in 0..<20 {
        if ends.client.isWaiting { ends.client = client.handshake() }
        if ends.server.isWaiting { ends.server = server.handshake() }
    }
    return ends
}

extension TLSProgress {
    var isWaiting: Bool { self == .wantsRead || self == .wantsWrite }
}

extension TLSSession {
    /// Reads what is there, up to 64 KiB.
    mutating func readSome() -> (progress: TLSProgress, bytes: [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let progress = buffer.withUnsafeMutableBytes { read(into: $0) }
        guard case .bytes(let count) = progress else { return (progress, []) }
        return (progress, Array(buffer[..<count]))
    }

    mutating func send(_ bytes: [UInt8]) -> TLSProgress { bytes.withUnsafeBytes { write($0) } }
}

extension Duplex {
    func sendPlain(_ text: String) { _ = write(client, text, text.utf8.count) }
}
