import Durable
import Names
import TLS

/// The registry's certificates: a development CA of its own, and a server certificate that it renews.
///
/// An operator who has certificates from elsewhere puts them in place of
/// `server.pem` and `server-key.pem` and removes `ca-key.pem`; they are then
/// used as they are and never renewed here.
struct Certificates: Sendable {
    /// Days that a new server certificate lives.
    private static let lifetimeDays: Int64 = 90

    /// Seconds before its end at which it is renewed.
    private static let renewal: Int64 = 30 * 86_400
    private static let maximumLength = ByteCount.kibibytes(64)

    private let layout: RegistryLayout

    init(_ layout: RegistryLayout) { self.layout = layout }

    func create(hosts: [String], now: UnixTime) throws {
        let authority = try DevelopmentCA.create(commonName: "Sealift development CA", now: now)
        try Durable.writeAtomically(layout.caKey, authority.authority.keyPEM, mode: 0o600)
        try Durable.writeAtomically(layout.caCertificate, authority.authority.certificatePEM)
        let all = ["localhost", "127.0.0.1", "::1"] + hosts
        var names: [String] = []
        for host in all where !names.contains(host) { names.append(host) }
        try Durable.writeAtomically(layout.hosts, Array((names.joined(separator: "\n") + "\n").utf8))
        try issue(now: now)
    }

    /// Makes a new server certificate when the present one is near its end and a CA key is here.
    ///
    /// - Returns: Whether it did.
    @discardableResult
    func renewIfDue(now: UnixTime) throws -> Bool {
        guard try Durable.kind(of: layout.caKey) != nil else { return false }
        let present = try Durable.readFileIfPresent(layout.serverCertificate, maximum: Self.maximumLength)
        let key = try Durable.readFileIfPresent(layout.serverKey, maximum: Self.maximumLength)
        if let present, let key, let expiry = DevelopmentCA.expiry(ofCertificatePEM: present),
            expiry.seconds(since: now) > Self.renewal,
            try DevelopmentCA.belongTogether(CertifiedKey(certificatePEM: present, keyPEM: key))
        {
            return false
        }
        try issue(now: now)
        return true
    }

    func tls() throws(TLSError) -> ServerTLS {
        try ServerTLS(certificateChainPEMFile: layout.serverCertificate, keyFile: layout.serverKey)
    }

    private func issue(now: UnixTime) throws {
        let authority = DevelopmentCA(
            authority: CertifiedKey(
                certificatePEM: try Durable.readFile(layout.caCertificate, maximum: Self.maximumLength),
                keyPEM: try Durable.readFile(layout.caKey, maximum: Self.maximumLength, privacy: .ownerOnly)
            )
        )
        let names = try Durable.readFile(layout.hosts, maximum: Self.maximumLength)
        let hosts = String(decoding: names, as: UTF8.self).split(separator: "\n").map(String.init)
        let server = try authority.issueServer(hosts: hosts, now: now, days: Self.lifetimeDays)
        // A crash between the two leaves a pair that does not fit, which the next start renews.
        try Durable.writeAtomically(layout.serverKey, server.keyPEM, mode: 0o600)
        try Durable.writeAtomically(layout.serverCertificate, server.certificatePEM)
    }
}
