import Names
import Signing
import Trust

/// The chain of trust that results from a commit: posted files above those that are stored.
///
/// Every document that comes out was verified under its delegator in this same
/// chain, so parents are always judged first, as a device will judge them.
/// Stored files are verified again as well: that they were accepted once says
/// nothing about the keys that count now.
struct Chain {
    private let view: any RegistryView
    private let posted: PostedRoles
    let root: Verified<RootDocument>
    private var documents: [SealiftRole: Verified<TargetsDocument>] = [:]

    init(view: any RegistryView, posted: PostedRoles) throws(RegistryError) {
        self.view = view
        self.posted = posted
        guard let stored = try view.newest("root") else { throw .notCreated }
        let current: Verified<RootDocument>
        do {
            current = try Untrusted<RootDocument>(stored.bytes).verifiedByItself()
        } catch {
            throw .damaged(what: "root version \(stored.version)", reason: "\(error)")
        }
        guard let file = posted[.root] else {
            root = current
            return
        }
        do {
            // TUF 1.0.34, 5.3.4: a new root is signed by the old keys and by its own.
            let candidate = Untrusted<RootDocument>(file.bytes)
            root = try candidate.verified(by: try current.document.quorum(for: .root))
            _ = try candidate.verifiedByItself()
            try SealiftShapes.check(root: root.document)
        } catch {
            throw .untrusted(role: "root", reason: "\(error)")
        }
    }

    func isPosted(_ role: SealiftRole) -> Bool { posted[role.roleName] != nil }

    /// The document of a role in the resulting chain; `nil` when it has none yet.
    ///
    /// - Throws: `.untrusted` for a posted file, `.mustSignAgain` for a stored one that no longer verifies.
    mutating func document(_ role: SealiftRole) throws(RegistryError) -> Verified<TargetsDocument>? {
        if let known = documents[role] { return known }
        let bytes: [UInt8]
        if let file = posted[role.roleName] {
            bytes = file.bytes
        } else if let stored = try view.newest(role.name) {
            bytes = stored.bytes
        } else {
            return nil
        }
        let quorum = try quorum(for: role)
        let verified: Verified<TargetsDocument>
        do {
            verified = try Untrusted<TargetsDocument>(bytes).verified(by: quorum)
            try SealiftShapes.check(role, document: verified.document)
        } catch {
            throw refusal(of: role, "\(error)")
        }
        documents[role] = verified
        return verified
    }

    /// Whether a key of the registry's own meets the quorum of a role that it signs.
    mutating func isSigner(_ key: PublicKey, of role: RoleName) throws(RegistryError) -> Bool {
        do {
            let quorum =
                if role == SealiftRole.hold.roleName { try quorum(for: .hold) } else {
                    try root.document.quorum(for: role)
                }
            return quorum.threshold == 1 && quorum.keys.values.contains(key)
        } catch let error as RegistryError {
            throw error
        } catch {
            throw .untrusted(role: "\(role)", reason: "\(error)")
        }
    }

    private mutating func quorum(for role: SealiftRole) throws(RegistryError) -> Quorum {
        guard let delegator = role.delegator else {
            do { return try root.document.quorum(for: .targets) } catch {
                throw .untrusted(role: "root", reason: "\(error)")
            }
        }
        guard let parent = try document(delegator) else {
            throw .untrusted(
                role: role.name,
                reason: "its delegator \(delegator) has no file yet; post it in the same commit"
            )
        }
        do {
            return try parent.document.quorum(for: role.roleName, named: delegator.roleName)
        } catch {
            throw refusal(of: role, "\(error)")
        }
    }

    private func refusal(of role: SealiftRole, _ reason: String) -> RegistryError {
        // The registry signs the hold itself: what is wrong is what names its key.
        guard role != .hold else { return .untrusted(role: "targets", reason: reason) }
        guard !isPosted(role) else { return .untrusted(role: role.name, reason: reason) }
        return .mustSignAgain(role: role.name, under: role.delegator?.name ?? "root", reason: reason)
    }
}
