import Names
package import Signing

/// A key that verifies signed notes (C2SP signed-note), Ed25519 only.
///
/// Written `NAME+ID+BASE64`: ID is 8 lower-case hex digits, the first bytes of
/// `SHA-256(NAME || 0x0A || 0x01 || key)`; BASE64 holds `0x01 || key`.
package struct NoteVerifierKey: Sendable, Hashable, CustomStringConvertible {
    /// The signature type of Ed25519.
    private static let type: UInt8 = 0x01

    package let name: String
    package let publicKey: PublicKey

    /// Four bytes that name the key in a signature line.
    package let keyID: [UInt8]
    package let description: String

    /// - Returns: `nil` for a key that is not Ed25519, or a name that is empty, has white space or `+`.
    package init?(name: String, publicKey: PublicKey) {
        let isPlain = name.unicodeScalars.allSatisfy {
            !$0.properties.isWhitespace && $0 != "+" && $0.value > 0x20
        }
        guard !name.isEmpty, isPlain, let raw = publicKey.rawEd25519 else { return nil }
        let typed = [Self.type] + raw
        let keyID = Array(SHA256.digest(of: Array(name.utf8) + [0x0A] + typed).bytes.prefix(4))
        self.name = name
        self.publicKey = publicKey
        self.keyID = keyID
        description = "\(name)+\(Hex.text(keyID))+\(Base64.text(typed))"
    }

    /// Parses the written form.
    ///
    /// - Returns: `nil` for another type of key or an ID that is not the key's.
    package init?(_ text: String) {
        let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let typed = Base64.bytes(parts[2]), typed.first == Self.type,
            let key = PublicKey(rawEd25519: Array(typed.dropFirst()))
        else { return nil }
        self.init(name: String(parts[0]), publicKey: key)
        guard Hex.bytes(parts[1]) == keyID else { return nil }
    }
}
