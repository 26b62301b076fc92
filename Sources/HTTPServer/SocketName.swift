import Glibc

/// A numeric IPv4 or IPv6 address with a port, as the system's calls take it.
struct SocketName {
    private var storage = sockaddr_storage()

    /// Reads a numeric address; nil for anything else, names included.
    init?(address: String, port: UInt16) {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if inet_pton(AF_INET, address, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: four, as: sockaddr_in.self) }
        } else if inet_pton(AF_INET6, address, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: six, as: sockaddr_in6.self) }
        } else {
            return nil
        }
    }

    /// Asks the system for the name of one side of a socket.
    init?(
        of descriptor: Int32,
        side: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { side(descriptor, $0, &length) }
        }
        guard code == 0 else { return nil }
    }

    var family: Int32 { Int32(storage.ss_family) }

    var port: UInt16 {
        // The port stands at the same place in both families.
        withUnsafeBytes(of: storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }

    /// The address without the port.
    var text: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        var copy = storage
        let offset = family == AF_INET ? 4 : 8
        withUnsafeBytes(of: &copy) { bytes in
            guard let start = bytes.baseAddress else { return }
            _ = inet_ntop(family, start + offset, &buffer, socklen_t(buffer.count))
        }
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whom connections are counted for: an IPv4 address, or an IPv6 network
    /// of 64 bits, all of whose addresses one host may take.
    var countedAs: [UInt8] {
        withUnsafeBytes(of: storage) { Array(family == AF_INET ? $0[4..<8] : $0[8..<16]) }
    }

    /// Binds the socket to this name.
    mutating func bind(_ descriptor: Int32) -> Bool {
        let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        return withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(size)) == 0
            }
        }
    }
}
