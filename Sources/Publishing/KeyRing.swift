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

    /// The option by which keys are named, for messages.
    package let option: String
    private let passphrase: @Sendable (String) throws(PublishingError) -> [UInt8]?

    /// What people call the keys that are known here, by key ID.
    package let names: [String: String]

    /// Opens what was named, and looks through the folder only when nothing was; blocks.
    ///
    /// - Parameters:
    ///   - references: Files, or `command:…`.
    ///   - folder: Where the keys of this machine are; a public half alone is a key that is elsewhere.
    ///   - option: The option by which keys are named.
    ///   - passphrase: Asked for a file that turns out to be encrypted.
    /// - Throws: `PublishingError` naming the key that cannot be used.
    package init(
        _ references: [String],
        folder: String?,
        option: String = "key",
        passphrase: @escaping @Sendable (String) throws(PublishingError) -> [UInt8]?
    ) throws(PublishingError) {
        self.passphrase = passphrase
        self.option = option
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
            let isHere = Self.isThere(file)
            let name = String(file.split(separator: "/").last ?? "") + (isHere ? "" : ", not here")
            names[entry.id] = names[entry.id] ?? name
            if isHere { found.append(entry) }
        }
        self.named = named
        self.found = named.isEmpty ? found : []
        self.names = names
    }

    /// The keys that can sign.
    package var keyIDs: Set<String> { Set(publicKeys.map { Authoring.keyID(of: $0) }) }

    package var publicKeys: [PublicKey] { named.map(\.publicKey) + found.map(\.key) }

    /// How many keys would have signed each role after ``sign(_:)``, in the order of the roles.
    package func foretold(_ proposal: Proposal) -> [Int] {
        var copy = proposal
        for signer in named { copy.mark(Authoring.keyID(of: signer.publicKey)) }
        for entry in found where copy.wantedKeyIDs.contains(entry.id) { copy.mark(entry.id) }
        return copy.roles.map(\.signatures.count)
    }

    /// Refuses named keys that would sign nothing of the proposal.
    func check(_ proposal: Proposal) throws(PublishingError) {
        for signer in named where !proposal.wants(Authoring.keyID(of: signer.publicKey)) {
            throw strange(signer, to: proposal)
        }
    }

    private func strange(_ signer: any Signer, to proposal: Proposal) -> PublishingError {
        let wanted = proposal.wantedKeyIDs.sorted().map { KeyID.short($0, naming: names) }
        return .unpublishable(
            "this key (\(KeyID.short(Authoring.keyID(of: signer.publicKey)))) may not sign "
                + proposal.roles.map { "\($0.role)" }.joined(separator: ", ")
                + (wanted.isEmpty
                    ? "; no further signature is wanted"
                    : "; expected one of " + wanted.joined(separator: ", ")
                        + "; give the right key with --\(option)")
        )
    }

    /// Signs what the proposal wants: with every key that was named, or with as many of the folder's as are needed.
    ///
    /// Blocks while signers work.
    ///
    /// - Throws: `PublishingError` when a named key signs nothing of it, or a signer fails.
    package func sign(_ proposal: inout Proposal) throws(PublishingError) {
        for signer in named where try proposal.sign(by: signer).isEmpty {
            throw strange(signer, to: proposal)
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

    private static func isThere(_ file: String) -> Bool { (try? Durable.kind(of: file)) ?? nil != nil }

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
        guard !bytes.isEmpty else { throw .unpublishable("\(path) is empty; expected a public key in PEM") }
        guard let key = PublicKey(pem: String(decoding: bytes, as: UTF8.self)) else {
            throw .unpublishable("\(path) is not one public key in PEM; ‘sealift keygen’ writes FILE.pub")
        }
        return key
    }
}
