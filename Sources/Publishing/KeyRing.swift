import Durable
import Names
package import Signing
import Trust

/// The keys at hand: those that were named, else those in the folder of keys whose public halves are beside them.
///
/// A key reference is a file of PKCS#8 PEM, or `command:PROGRAM ARGUMENTS`. A
/// key of the folder is opened only when its signature is wanted.
package struct KeyRing: Sendable {
    private struct Entry: Sendable {
        let key: PublicKey
        let file: String

        var id: String { Authoring.keyID(of: key) }
    }

    private let named: [any Signer]
    private let found: [Entry]
    private let passphrase: @Sendable (String) throws(PublishingError) -> [UInt8]?

    /// What people call the keys that are known here, by key ID.
    package let names: [String: String]

    /// Opens what was named, and looks through the folder only when nothing was; blocks.
    ///
    /// - Parameters:
    ///   - references: Files, or `command:…`.
    ///   - folder: Where the keys of this machine are.
    ///   - passphrase: Asked for a file that turns out to be encrypted.
    /// - Throws: `PublishingError` naming the key that cannot be used.
    package init(
        _ references: [String],
        folder: String?,
        passphrase: @escaping @Sendable (String) throws(PublishingError) -> [UInt8]?
    ) throws(PublishingError) {
        self.passphrase = passphrase
        var named: [any Signer] = []
        var names: [String: String] = [:]
        for reference in references {
            let signer = try Self.open(reference, passphrase)
            guard !named.contains(where: { $0.publicKey == signer.publicKey }) else {
                throw .usage("the key \(reference) is given twice")
            }
            named.append(signer)
            names[Authoring.keyID(of: signer.publicKey)] = reference
        }
        var found: [Entry] = []
        let halves = folder.map { Self.publicHalves(in: $0) } ?? []
        for (file, key) in halves {
            let entry = Entry(key: key, file: file)
            names[entry.id] = names[entry.id] ?? String(file.split(separator: "/").last ?? "")
            found.append(entry)
        }
        self.named = named
        self.found = named.isEmpty ? found : []
        self.names = names
    }

    /// The keys that can sign.
    package var keyIDs: Set<String> { Set(publicKeys.map { Authoring.keyID(of: $0) }) }

    package var publicKeys: [PublicKey] { named.map(\.publicKey) + found.map(\.key) }

    /// Signs what the proposal wants: with every key that was named, or with as many of the folder's as are needed.
    ///
    /// Blocks while signers work.
    ///
    /// - Throws: `PublishingError` when a named key signs nothing of it, or a signer fails.
    package func sign(_ proposal: inout Proposal) throws(PublishingError) {
        for signer in named where try proposal.sign(by: signer).isEmpty {
            let id = Authoring.keyID(of: signer.publicKey)
            let wanted = proposal.wantedKeyIDs.sorted().map { "\($0.prefix(16))…" }
            throw .unpublishable(
                "this key (\(id.prefix(16))…) may not sign \(proposal.roles.map { "\($0.role)" }.joined(separator: ", "))"
                    + "; expected one of " + wanted.joined(separator: ", ")
                    + "; give the right key with --key"
            )
        }
        for entry in found where proposal.wantedKeyIDs.contains(entry.id) {
            try proposal.sign(by: try Self.open(entry.file, passphrase))
        }
    }

    /// Opens one key reference.
    package static func open(
        _ reference: String,
        _ passphrase: (String) throws(PublishingError) -> [UInt8]?
    ) throws(PublishingError) -> any Signer {
        if reference.hasPrefix("command:") { return try CommandSigner(String(reference.dropFirst(8))) }
        return try KeyFile.read(reference) { () throws(PublishingError) -> [UInt8]? in
            try passphrase(reference)
        }
    }

    /// `NAME.pem` for each `NAME.pem.pub` in the folder that is a public key, by name.
    private static func publicHalves(in folder: String) -> [(file: String, key: PublicKey)] {
        let names = (try? Durable.names(in: folder)) ?? []
        return names.sorted().compactMap { name in
            guard name.hasSuffix(".pub"), let key = try? PublicKeyFile.read("\(folder)/\(name)") else {
                return nil
            }
            return ("\(folder)/\(name.dropLast(4))", key)
        }
    }
}

/// Public keys as files: PEM, as `keygen` writes them beside the private half.
package enum PublicKeyFile {
    package static func read(_ path: String) throws(PublishingError) -> PublicKey {
        let bytes: [UInt8]
        do { bytes = try Durable.readFile(path, maximum: .kibibytes(64)) } catch { throw .file(error) }
        guard let key = PublicKey(pem: String(decoding: bytes, as: UTF8.self)) else {
            throw .unpublishable("\(path) is not one public key in PEM; ‘sealift keygen’ writes FILE.pub")
        }
        return key
    }
}
