package import Names
import Signing
import Trust

extension Registry {
    /// Whether the administrators have given a namespace to somebody.
    package static func knows(
        _ namespace: Namespace,
        in store: any RegistryStore
    ) throws(RegistryError) -> Bool {
        guard let file = try store.newest(SealiftRole.targets.name) else { return false }
        do {
            let document: TargetsDocument = try Claim.document(in: file.bytes, role: .targets)
            return document.delegations?[SealiftRole.namespace(namespace).roleName] != nil
        } catch { throw .damaged(what: "role targets", reason: "\(error)") }
    }

    /// The form of a token: a prefix by which scanners for leaked secrets know it, and 32 random bytes.
    private static let prefix = "sealift_"

    /// Makes a token; only its digest is kept, so this is the one time that it can be shown.
    package func issueToken(_ token: Token, now: UnixTime) async throws(RegistryError) -> String {
        try await Self.issueToken(token, in: store, now: now)
    }

    /// As ``issueToken(_:now:)``, before there is an online key at hand.
    package static func issueToken(
        _ token: Token,
        in store: any RegistryStore,
        now: UnixTime
    ) async throws(RegistryError) -> String {
        let secret = prefix + Hex.text(randomBytes(32))
        try await store.recordToken(token, digest: digest(ofToken: secret), now: now)
        try await store.recordEvent(
            RegistryEvent(
                time: now,
                kind: .tokenIssued,
                subject: token.label,
                detail: "\(token.scope) until \(token.expires)"
            )
        )
        return secret
    }

    /// Takes tokens back; a request that shows one is refused from now on, in every process that serves the store.
    ///
    /// - Returns: Those that were valid until now.
    package static func revokeTokens(
        _ choice: TokenChoice,
        in store: any RegistryStore,
        now: UnixTime
    ) async throws(RegistryError) -> [IssuedToken] {
        let revoked = try await store.revokeTokens(choice, now: now)
        for issued in revoked {
            try await store.recordEvent(
                RegistryEvent(
                    time: now,
                    kind: .tokenRevoked,
                    subject: issued.token.label,
                    detail: "number \(issued.number), \(issued.token.scope)"
                )
            )
        }
        return revoked
    }

    /// What the bearer of `secret` may do now; `nil` for an unknown, revoked or expired token.
    ///
    /// The look-up goes by the digest of what was sent, so its time tells
    /// nothing about how much of a guess was right.
    package func token(_ secret: String, now: UnixTime) throws(RegistryError) -> Token? {
        guard secret.utf8.starts(with: Self.prefix.utf8), secret.utf8.count == Self.prefix.utf8.count + 64
        else {
            return nil
        }
        guard let token = try store.token(digest: Self.digest(ofToken: secret)), now < token.expires else {
            return nil
        }
        return token
    }

    private static func digest(ofToken secret: String) -> Digest { SHA256.digest(of: Array(secret.utf8)) }
}
