package import CanonicalJSON
import Names
package import Signing

/// Writes metadata files.
package enum Authoring {
    /// The ID under which root and targets roles list `key` (TUF 1.0.34, 4.2.3).
    package static func keyID(of key: PublicKey) -> String { KeyObject(key).id }

    /// Signs a document with every signer, each key once.
    package static func envelope(
        signing document: some SignedDocument,
        by signers: [any Signer]
    ) throws(TrustError) -> [UInt8] {
        try envelope(signing: document.signed, by: signers)
    }

    /// Signs `signed` with every signer, each key once.
    ///
    /// - Returns: The file: compact JSON, keys sorted, signatures by key ID.
    /// - Throws: `TrustError.signingFailed` when a signer cannot sign.
    package static func envelope(
        signing signed: JSONValue,
        by signers: [any Signer]
    ) throws(TrustError) -> [UInt8] {
        let message = signed.olpcCanonical
        var signatures: [String: [UInt8]] = [:]
        for signer in signers {
            do {
                signatures[keyID(of: signer.publicKey)] = try signer.signature(of: message)
            } catch {
                throw .signingFailed(reason: "\(error)")
            }
        }
        return envelope(signed, signatures: signatures).compactJSON
    }

    /// The file of `signed` with signatures that were made elsewhere, by key ID.
    package static func envelope(_ signed: JSONValue, signatures: [String: [UInt8]]) -> JSONValue {
        let listed = signatures.sorted { $0.key < $1.key }.map { entry in
            JSONValue.members(["keyid": .text(entry.key), "sig": .text(Hex.text(entry.value))])
        }
        return .members(["signatures": .array(listed), "signed": signed])
    }
}
