import Blocking
import Glibc

/// The listening socket, shared by all loops.
final class Listener: Sendable {
    let descriptor: Int32
    let port: Int

    /// Loops that still watch the socket; the last to leave closes it, so that
    /// no loop can meet a descriptor that has come to mean something else.
    private let watchers: Guarded<Int>

    init(address: String, port: Int, watchers: Int) throws(HTTPServerError) {
        guard (0...65_535).contains(port), var name = SocketName(address: address, port: UInt16(port))
        else { throw .badAddress(address: address, port: port) }
        let stream =
            Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(name.family, stream, 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        do throws(HTTPServerError) {
            setOption(descriptor, SOL_SOCKET, SO_REUSEADDR)
            if name.family == AF_INET6 { setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
            guard name.bind(descriptor) else {
                switch errno {
                case EADDRINUSE: throw .addressInUse(address: address, port: port)
                case EACCES, EPERM: throw .notPermitted(address: address, port: port)
                case EADDRNOTAVAIL, EINVAL, EAFNOSUPPORT: throw .badAddress(address: address, port: port)
                default: throw .system(call: "bind", code: errno)
                }
            }
            guard listen(descriptor, 1_024) == 0 else {
                if errno == EADDRINUSE { throw .addressInUse(address: address, port: port) }
                throw .system(call: "listen", code: errno)
            }
            guard let bound = SocketName(of: descriptor, side: getsockname) else {
                throw .system(call: "getsockname", code: errno)
            }
            self.port = Int(bound.port)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.watchers = Guarded(watchers)
    }

    deinit {
        if watchers.withLock({ $0 }) > 0 { close(descriptor) }
    }

    /// Says that one loop watches the socket no more.
    func leave() {
        let isLast = watchers.withLock { watchers in
            watchers -= 1
            return watchers == 0
        }
        if isLast { close(descriptor) }
    }
}

/// Turns a socket option on.
func setOption(_ descriptor: Int32, _ level: Int32, _ option: Int32) {
    var on: Int32 = 1
    setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
}
