import Durable
import Glibc
import Names
import Publishing
import Registry
import Signing

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

    /// The key that `init` makes; one that comes after it lies beside it as `online-NAME.pem`.
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

extension RegistryLayout {
    /// - Throws: `Failure` when an ‘init’ of this directory was stopped before its end, or this user may not use it.
    func checkFinished() throws {
        guard try !UnfinishedInit(self).isThere else {
            throw Failure(.usage, "the ‘init’ of \(directory) was stopped before its end; run it again")
        }
        // SQLite would say no more than a number.
        for path in [directory, database] where access(path, R_OK | W_OK) != 0 {
            guard [EACCES, EPERM, EROFS].contains(errno) else { continue }
            throw Failure(
                code: .place,
                "\(path) is not readable and writable by this user (number \(geteuid())); run as the user whom the "
                    + "registry belongs to"
            )
        }
    }

    /// The keys that the registry may sign with: `online.pem` and every `online-NAME.pem`.
    func onlineSigners() throws -> [any Signer] {
        try Durable.names(in: keys).sorted().filter { name in
            name == "online.pem" || name.hasPrefix("online-") && name.hasSuffix(".pem")
        }.map { name in
            try KeyFile.read("\(keys)/\(name)") { () throws(PublishingError) -> [UInt8]? in nil }
        }
    }

    /// ``onlineSigners()``, looked up again for each signature.
    var onlineKeys: OnlineKeys {
        OnlineKeys { () throws(RegistryError) in
            do { return try onlineSigners() } catch { throw .signing(reason: "\(error)") }
        }
    }
}
