import COpenSSL
package import Names

/// A certificate and the key that belongs to it.
package struct CertifiedKey: Sendable {
    /// PEM, one certificate.
    package let certificatePEM: [UInt8]

    /// PKCS#8 PEM, not encrypted: the caller writes it with mode 0600.
    package let keyPEM: [UInt8]

    package init(certificatePEM: [UInt8], keyPEM: [UInt8]) {
        self.certificatePEM = certificatePEM
        self.keyPEM = keyPEM
    }
}

/// A certificate authority of one's own, for a registry without a public name.
///
/// It certifies servers and nothing else: its certificates say so (RFC 5280,
/// 4.2.1.3, 4.2.1.9 and 4.2.1.12), and its path length of 0 forbids authorities
/// below it. Who is who in the product is never decided by it; signed metadata
/// does that.
package struct DevelopmentCA: Sendable {
    /// What clients are told to trust, and the key that stays with the operator.
    package let authority: CertifiedKey

    /// The longest life of a server certificate, in days, that clients accept (CA/Browser Forum, 2020 to 2026).
    package static let longestServerLife: Int64 = 397

    /// Takes up an authority that was made before.
    package init(authority: CertifiedKey) { self.authority = authority }

    /// Makes an authority that lives ten years.
    ///
    /// - Throws: `TLSError.engineFailed` when OpenSSL cannot.
    package static func create(commonName: String, now: UnixTime) throws(TLSError) -> DevelopmentCA {
        let key = try EVPKey.generated()
        let certificate = try Certificate.blank(for: key, commonName: commonName, now: now, days: 3_652)
        try certificate.nameIssuer(certificate)
        try certificate.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", issuer: certificate)
        try certificate.add(NID_key_usage, "critical,keyCertSign,cRLSign", issuer: certificate)
        try certificate.add(NID_subject_key_identifier, "hash", issuer: certificate)
        try certificate.sign(by: key)
        return DevelopmentCA(
            authority: CertifiedKey(certificatePEM: try certificate.pem(), keyPEM: try key.pem())
        )
    }

    /// Whether a certificate can be made for `host`: a DNS name or a numeric address.
    package static func canName(_ host: String) -> Bool { SubjectName(host) != nil }

    /// Makes a server certificate with a key of its own.
    ///
    /// - Parameters:
    ///   - hosts: DNS names and IP addresses by which clients reach the server; the first becomes the common name.
    ///   - now: The beginning, less five minutes for clocks that are behind.
    ///   - days: Its life, held at ``longestServerLife``.
    /// - Returns: The certificate and its key.
    /// - Throws: `TLSError.badHost`, `.unusablePEM` or `.keyMismatch` when the authority cannot be read, `.engineFailed`.
    package func issueServer(hosts: [String], now: UnixTime, days: Int64) throws(TLSError) -> CertifiedKey {
        var names: [String] = []
        for host in hosts {
            guard let name = SubjectName(host) else { throw .badHost(host) }
            names.append(name.text)
        }
        guard let first = hosts.first else { throw .badHost("") }
        let issuer = try Certificate.read(authority.certificatePEM, what: "certificate of the authority")
        let issuerKey = try EVPKey.read(authority.keyPEM, what: "key of the authority")
        guard issuer.belongs(to: issuerKey) else {
            throw .keyMismatch(certificate: "the authority", key: "of the authority")
        }
        let key = try EVPKey.generated()
        let life = min(max(1, days), Self.longestServerLife)
        // A common name has at most 64 characters (RFC 5280, appendix A.1); no client reads it any more.
        let commonName = first.utf8.count <= 64 ? first : "server"
        let certificate = try Certificate.blank(for: key, commonName: commonName, now: now, days: life)
        try certificate.nameIssuer(issuer)
        try certificate.add(NID_basic_constraints, "critical,CA:FALSE", issuer: issuer)
        try certificate.add(NID_key_usage, "critical,digitalSignature", issuer: issuer)
        try certificate.add(NID_ext_key_usage, "serverAuth", issuer: issuer)
        try certificate.add(NID_subject_alt_name, names.joined(separator: ","), issuer: issuer)
        try certificate.add(NID_subject_key_identifier, "hash", issuer: issuer)
        try certificate.add(NID_authority_key_identifier, "keyid", issuer: issuer)
        try certificate.sign(by: issuerKey)
        return CertifiedKey(certificatePEM: try certificate.pem(), keyPEM: try key.pem())
    }

    /// When the first certificate of `pem` ends, so that it can be renewed in time.
    ///
    /// - Returns: `nil` when there is no certificate.
    package static func expiry(ofCertificatePEM pem: [UInt8]) -> UnixTime? {
        guard let certificate = try? Certificate.read(pem, what: "certificate") else { return nil }
        return certificate.expiry()
    }

    /// Whether the key is that of the first certificate.
    ///
    /// - Throws: `TLSError.unusablePEM` when one of them cannot be read.
    package static func belongTogether(_ pair: CertifiedKey) throws(TLSError) -> Bool {
        let certificate = try Certificate.read(pair.certificatePEM, what: "certificate")
        let key = try EVPKey.read(pair.keyPEM, what: "key")
        return certificate.belongs(to: key)
    }
}
