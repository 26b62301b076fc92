import Durable
import Names

/// Where a registry keeps what, below its directory.
struct RegistryLayout: Sendable {
    let directory: String

    init(_ directory: String) {
        self.directory =
            directory.count > 1 && directory.hasSuffix("/") ? String(directory.dropLast()) : directory
    }

    /// Where `serve` listens unless told otherwise, `ADDRESS:PORT`; absent for the usual address.
    var listen: String { directory + "/listen" }
    var database: String { directory + "/registry.db" }
    var blobs: String { directory + "/blobs" }

    /// Private, mode 0700: the keys that sign without a person.
    var keys: String { directory + "/keys" }
    var onlineKey: String { keys + "/online.pem" }
    var logKey: String { keys + "/log.pem" }

    var tls: String { directory + "/tls" }
    var caCertificate: String { tls + "/ca.pem" }
    var caKey: String { tls + "/ca-key.pem" }
    var serverCertificate: String { tls + "/server.pem" }
    var serverKey: String { tls + "/server-key.pem" }

    /// The host names in the server's certificate, one a line.
    var hosts: String { tls + "/hosts" }

    /// What `init` was told about listening.
    func storedListen() throws(DurableError) -> String? {
        guard let bytes = try Durable.readFileIfPresent(listen, maximum: .kibibytes(4)) else { return nil }
        return String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
