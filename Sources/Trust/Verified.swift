import CanonicalJSON
package import Names
package import Signing

/// Who must sign a role, and how many of them.
package struct Quorum: Sendable, Equatable {
    package let role: RoleName

    /// The keys that this program can use, by key ID.
    package let keys: [String: PublicKey]
    package let threshold: Int

    package init(role: RoleName, keys: [String: PublicKey], threshold: Int) {
        self.role = role
        self.keys = keys
        self.threshold = threshold
    }

    /// Key IDs without a key, and keys of a type nobody here knows, are left out and cannot be met.
    init(role: RoleName, keys: [String: KeyObject], roleKeys: RoleKeys) {
        var usable: [String: PublicKey] = [:]
        for id in roleKeys.keyIDs { usable[id] = keys[id]?.publicKey }
        self.init(role: role, keys: usable, threshold: roleKeys.threshold)
    }
}

/// Bytes from outside that claim to be a `Document`.
///
/// There is no way to read the document in here. The one way out is
/// ``verified(by:)``.
package struct Untrusted<Document: SignedDocument>: Sendable {
    private let bytes: [UInt8]
    private let maximumLength: ByteCount?

    /// - Parameters:
    ///   - bytes: The file.
    ///   - maximumLength: In the place of the role's own limit.
    package init(_ bytes: [UInt8], maximumLength: ByteCount? = nil) {
        self.bytes = bytes
        self.maximumLength = maximumLength
    }

    /// Checks length and signatures, and only then decodes.
    ///
    /// The threshold counts distinct *public keys*: a key that signed twice, or
    /// is listed under two IDs, is one signer (TUF 1.0.34, 5.3.4 speaks of key
    /// IDs only). This is the one place in the product that counts.
    ///
    /// - Throws: `TrustError`; nothing of the bytes is kept then.
    package func verified(by quorum: Quorum) throws(TrustError) -> Verified<Document> {
        let envelope = try Envelope(bytes, role: quorum.role, maximumLength: maximumLength)
        var signers: Set<PublicKey> = []
        var keyIDs: [String] = []
        let candidates = envelope.signatures.filter { quorum.keys[$0.keyID] != nil }
        // A document that nobody here could have signed is not worth its canonical form.
        let message = candidates.isEmpty ? [] : envelope.signed.olpcCanonicalSlice
        var failure: SigningError?
        for signature in candidates {
            guard let key = quorum.keys[signature.keyID] else { continue }
            do throws(SigningError) {
                guard try key.verifies(signature.bytes, for: message) else { continue }
            } catch {
                failure = error
                continue
            }
            if signers.insert(key).inserted { keyIDs.append(signature.keyID) }
        }
        guard signers.count >= max(1, quorum.threshold) else {
            if let failure { throw .unverifiable(role: quorum.role, reason: "\(failure)") }
            throw .thresholdNotMet(role: quorum.role, valid: signers.count, needed: quorum.threshold)
        }
        return Verified(
            document: try Document(signed: envelope.signed, role: quorum.role),
            bytes: bytes,
            role: quorum.role,
            signers: keyIDs
        )
    }
}

extension Untrusted where Document == RootDocument {
    /// Checks a root against the keys it names itself, as for one that came by a trusted way (TUF 1.0.34, 5.2).
    package func verifiedByItself() throws(TrustError) -> Verified<RootDocument> {
        let claim = try RootDocument(signed: try Envelope(bytes, role: .root).signed, role: .root)
        return try verified(by: try claim.quorum(for: .root))
    }
}

/// A document whose signatures held.
///
/// Only this file can make one, so a `Verified` parameter is the proof that
/// its caller checked. Verified does not mean current: see ``current(at:)``.
package struct Verified<Document: SignedDocument>: Sendable {
    package let document: Document

    /// The file exactly as received: store these, never a re-encoding.
    package let bytes: [UInt8]

    /// The SHA-256 of ``bytes``.
    package let digest: Digest
    package let role: RoleName

    /// The key IDs whose signatures counted.
    package let signers: [String]

    fileprivate init(document: Document, bytes: [UInt8], role: RoleName, signers: [String]) {
        self.document = document
        self.bytes = bytes
        digest = SHA256.digest(of: bytes)
        self.role = role
        self.signers = signers
    }

    /// This document, if `now` is before its expiry.
    ///
    /// - Throws: `TrustError.expired` otherwise.
    @discardableResult
    package func current(at now: UnixTime) throws(TrustError) -> Self {
        guard now < document.expires else {
            throw .expired(role: role, expiry: document.expires, now: now)
        }
        return self
    }
}
