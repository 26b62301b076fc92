import Glibc

/// Why the server could not start or go on.
package enum HTTPServerError: Error, Hashable, Sendable {
    /// Another program listens there.
    case addressInUse(address: String, port: Int)

    /// The system refuses this address or port to us.
    case notPermitted(address: String, port: Int)

    /// The text is not a numeric address of this machine, or the port not 0 to 65535.
    case badAddress(address: String, port: Int)

    /// A system call failed.
    case system(call: String, code: Int32)
}

extension HTTPServerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .addressInUse(let address, let port):
            "cannot listen on \(address) port \(port): another program does already; stop it or choose another port"
        case .notPermitted(let address, let port):
            "cannot listen on \(address) port \(port): not permitted; ports below 1024 need the right to bind them"
        case .badAddress(let address, let port):
            "cannot listen on \(address) port \(port): expected a numeric address of this machine and a port from 0 to 65535"
        case .system(let call, let code):
            "\(call) failed: \(String(cString: strerror(code)))"
        }
    }
}
