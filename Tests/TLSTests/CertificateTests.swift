import Glibc
import Names
import Support
import TLS
import Testing

@Suite("Certificates")
struct CertificateTests {
    private let scratch = Scratch()
    private let now = UnixTime(rawValue: 1_796_005_603)

    @Test("a certificate ends when it was said to, and an authority after ten years")
    func expiry() throws {
        let ca = try DevelopmentCA.create(commonName: "A", now: now)
        #expect(
            DevelopmentCA.expiry(ofCertificatePEM: ca.authority.certificatePEM)
                == now.adding(seconds: 3_652 * 86_400)
        )
        let short = try ca.issueServer(hosts: ["a.example"], now: now, days: 30)
        #expect(
            DevelopmentCA.expiry(ofCertificatePEM: short.certificatePEM) == now.adding(seconds: 30 * 86_400)
        )
        let long = try ca.issueServer(hosts: ["a.example"], now: now, days: 10_000)
        #expect(
            DevelopmentCA.expiry(ofCertificatePEM: long.certificatePEM) == now.adding(seconds: 397 * 86_400)
        )
        #expect(DevelopmentCA.expiry(ofCertificatePEM: [1, 2, 3]) == nil)
    }

    @Test("a key belongs to its certificate and to no other")
    func pairs() throws {
        let ca = try DevelopmentCA.create(commonName: "A", now: now)
        let one = try ca.issueServer(hosts: ["a.example"], now: now, days: 30)
        let other = try ca.issueServer(hosts: ["a.example"], now: now, days: 30)
        let mixed = CertifiedKey(certificatePEM: one.certificatePEM, keyPEM: other.keyPEM)
        #expect(try DevelopmentCA.belongTogether(one))
        #expect(try !DevelopmentCA.belongTogether(mixed))
        #expect(throws: TLSError.self) {
            try DevelopmentCA(
                authority: CertifiedKey(certificatePEM: ca.authority.certificatePEM, keyPEM: one.keyPEM)
            ).issueServer(hosts: ["a.example"], now: now, days: 1)
        }
    }

    @Test(
        "a host that is no host gets no certificate",
        arguments: [
            "", ".", "a..b", "-a.example", "a-.example", "a b", "a,DNS:b", "a\nb", "é.example", "*",
            "a.*.example",
            "300.1.1.1", "1.2.3", "::g", "a_b.example", String(repeating: "a", count: 64) + ".example",
            String(repeating: "abcdefghi.", count: 26),
        ]
    )
    func badHost(host: String) throws {
        let ca = try DevelopmentCA.create(commonName: "A", now: now)
        #expect(throws: TLSError.badHost(host)) {
            try ca.issueServer(hosts: ["good.example", host], now: now, days: 1)
        }
        #expect(throws: TLSError.badHost("")) { try ca.issueServer(hosts: [], now: now, days: 1) }
    }

    @Test("a server refuses what it cannot use, and says what and why")
    func refusedFiles() throws {
        let ca = try DevelopmentCA.create(commonName: "A", now: now)
        let one = try ca.issueServer(hosts: ["a.example"], now: now, days: 30)
        let other = try ca.issueServer(hosts: ["a.example"], now: now, days: 30)
        let certificate = try scratch.write("one.pem", one.certificatePEM)
        let key = try scratch.write("one.key", one.keyPEM, mode: 0o600)
        let otherKey = try scratch.write("other.key", other.keyPEM, mode: 0o600)
        let exposed = try scratch.write("exposed.key", one.keyPEM, mode: 0o644)
        for mode in [0o640, 0o620, 0o604] as [UInt32] {
            let shared = try scratch.write("shared\(mode).key", one.keyPEM, mode: mode)
            #expect(throws: TLSError.exposedKey(path: shared, mode: mode)) {
                try ServerTLS(certificateChainPEMFile: certificate, keyFile: shared)
            }
        }
        let empty = try scratch.write("empty.pem", [])
        let sealed = try scratch.write("sealed.key", Array(Self.sealedKey.utf8), mode: 0o600)
        _ = try ServerTLS(certificateChainPEMFile: certificate, keyFile: key)
        #expect(throws: TLSError.keyMismatch(certificate: certificate, key: otherKey)) {
            try ServerTLS(certificateChainPEMFile: certificate, keyFile: otherKey)
        }
        #expect(throws: TLSError.exposedKey(path: exposed, mode: 0o644)) {
            try ServerTLS(certificateChainPEMFile: certificate, keyFile: exposed)
        }
        // The sealed one must not ask for its passphrase on the terminal: the test would stand still.
        for (chain, key) in [
            (empty, key), (scratch.path("absent"), key), (certificate, scratch.path("absent")),
            (certificate, sealed), (certificate, certificate),
        ] {
            let error = #expect(throws: TLSError.self) {
                try ServerTLS(certificateChainPEMFile: chain, keyFile: key)
            }
            if key == certificate {
                #expect(error == .exposedKey(path: certificate, mode: 0o644))
            } else {
                guard case .unusableFile = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }
        #expect(throws: TLSError.self) { try ClientTLS(authoritiesPEM: []) }
    }

    @Test(
        "the openssl command agrees with the certificates, strictly",
        .enabled(if: access("/usr/bin/openssl", X_OK) == 0, "needs /usr/bin/openssl"),
        arguments: [
            ("-verify_hostname", "registry.example", true), ("-verify_ip", "192.0.2.7", true),
            ("-verify_ip", "2001:db8::7", true), ("-verify_hostname", "other.example", false),
            ("-verify_ip", "192.0.2.8", false),
        ]
    )
    func peer(option: String, host: String, isRight: Bool) throws {
        let ca = try DevelopmentCA.create(commonName: "Test authority", now: now)
        let pair = try ca.issueServer(
            hosts: ["registry.example", "192.0.2.7", "2001:db8::7"],
            now: now,
            days: 30
        )
        let authority = try scratch.write("ca.pem", ca.authority.certificatePEM)
        let server = try scratch.write("server.pem", pair.certificatePEM)
        let status = try run(
            "/usr/bin/openssl",
            [
                "verify", "-x509_strict", "-purpose", "sslserver", "-attime", "\(now.rawValue)", option, host,
                "-CAfile", authority, server,
            ]
        )
        #expect((status == 0) == isRight)
    }

    private func run(_ program: String, _ arguments: [String]) throws -> Int32 {
        var vector = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in vector { free(word) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var child = pid_t()
        try #require(posix_spawn(&child, program, &actions, nil, &vector, environ) == 0)
        var status: Int32 = -1
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    /// A key that is public and sealed, made for tests of files that need a passphrase.
    private static let sealedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBB99IQBtyK3py9GJaUS
        WZqkAgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQ0MjBGDPjDVk5yJOA
        i1eDZwSBkMQVMM/M2GF0hvK3nUdiPOS5+TSi+4qgaVEdMRtLdM81NkX7KWPC6gK/
        433Dfz1jSggf2XX6reQ/zSLHf8Z94o8AWBugAjJ+Dd4lEQqTxJFjcP4+yBomynpS
        dA2QZtxj03BJhpWSh9LviCPGPIQPaA6eXWE+tQqZshIPDQw5NU84FJP2L/3cof6S
        kuPNlQEPKw==
        -----END ENCRYPTED PRIVATE KEY-----

        """
}
