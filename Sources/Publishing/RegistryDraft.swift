package import Names
import Signing
package import Trust

/// Changes to a registry's roles, not signed yet: the next version of each role that they touch.
///
/// Edits say what should hold; this type keeps versions, lifetimes and the
/// roles below consistent. Nothing here knows a private key.
package struct RegistryDraft: Sendable {
    package let base: RegistryState

    /// The end of every new signature's life.
    package let expires: UnixTime

    /// The root that results.
    package private(set) var root: RootDocument
    package private(set) var isRootEdited = false

    /// The roles that change, as they will be signed.
    package private(set) var edited: [SealiftRole: TargetsDocument] = [:]

    /// New documents by path.
    package private(set) var contents: [String: [UInt8]] = [:]

    /// Whose new roles are, in words; outside every signature.
    package private(set) var owners: [SealiftRole: OwnerName] = [:]

    /// What changes, in words, in the order of the edits.
    package private(set) var notes: [String] = []

    /// - Parameters:
    ///   - base: The state to build on.
    ///   - now: The local time, from which lifetimes count.
    /// - Throws: `PublishingError.usage` for a state that was never read.
    package init(on base: RegistryState, now: UnixTime) throws(PublishingError) {
        self.base = base
        root = try base.root().document
        expires = now.adding(seconds: try base.lifetime())
    }

    package var isEmpty: Bool { !isRootEdited && edited.isEmpty }

    /// The document of a role as it results; `nil` while it has none.
    package func document(_ role: SealiftRole) -> TargetsDocument? {
        edited[role] ?? base.roles[role]?.document
    }

    /// Changes a role, which gets its next version and a full life; one that has no file yet gets its first.
    package mutating func edit(
        _ role: SealiftRole,
        _ note: String? = nil,
        _ change: (inout TargetsDocument) throws(PublishingError) -> Void = { _ throws(PublishingError) in }
    ) throws(PublishingError) {
        var document =
            self.document(role) ?? TargetsDocument(version: 0, expires: expires, targets: [:])
        if edited[role] == nil {
            document.version += 1
            document.expires = expires
        }
        try change(&document)
        edited[role] = document
        if let note { notes.append(note) }
    }

    /// Changes the root; keys that no role names any more leave it.
    package mutating func editRoot(
        _ note: String? = nil,
        _ change: (inout RootDocument) throws(PublishingError) -> Void = { _ throws(PublishingError) in }
    ) throws(PublishingError) {
        var document = root
        if !isRootEdited {
            document.version += 1
            document.expires = expires
        }
        try change(&document)
        let named = Set(document.roles.values.flatMap(\.keyIDs))
        document.keys = document.keys.filter { named.contains($0.key) }
        root = document
        isRootEdited = true
        if let note { notes.append(note) }
    }

    /// Lists a document under a role.
    package mutating func list(
        _ path: String,
        _ content: [UInt8],
        in role: SealiftRole,
        _ note: String? = nil
    ) throws(PublishingError) {
        try edit(role, note) { document throws(PublishingError) in
            document.targets[TargetPath(path)] = TargetFile(of: content)
        }
        contents[path] = content
    }

    mutating func own(_ role: SealiftRole, by owner: OwnerName?) {
        if let owner { owners[role] = owner }
    }

    mutating func note(_ note: String) { notes.append(note) }

    /// Who must sign the next version of a role: for a root both those of the old one and its own.
    package func quorums(for role: RoleName) throws(PublishingError) -> [Quorum] {
        try ProposedChain(on: base, root: root, documents: edited).quorums(for: role)
    }

    /// Adds the next version of every role whose present file would no longer count.
    ///
    /// A role whose keys changed above it keeps its content; whoever holds the
    /// new keys must sign it, or every device that follows would refuse it.
    package mutating func signAgainWhatWouldBeStranded() throws(PublishingError) {
        for (role, file) in base.roles.sorted(by: {
            ($0.key.depth, $0.key.name) < ($1.key.depth, $1.key.name)
        })
        where edited[role] == nil && role != .hold {
            let quorums: [Quorum]
            do { quorums = try self.quorums(for: role.roleName) } catch {
                throw .unpublishable(
                    "this would strand \(role): \(error); a role that devices have seen can never leave"
                )
            }
            let holds = quorums.allSatisfy { quorum in
                (try? Untrusted<TargetsDocument>(file.bytes).verified(by: quorum)) != nil
            }
            if !holds { try edit(role, "\(role) is signed again, because the keys above it changed") }
        }
    }

    /// The changes as files to be signed, in the order in which they depend on each other.
    package func proposal() throws(PublishingError) -> Proposal {
        var proposal = Proposal(notes: notes)
        if isRootEdited { proposal.add(.root, root.signed, wanting: try quorums(for: .root)) }
        for (role, document) in edited.sorted(by: {
            ($0.key.depth, $0.key.name) < ($1.key.depth, $1.key.name)
        }) {
            proposal.add(role.roleName, document.signed, wanting: try quorums(for: role.roleName))
        }
        for (path, content) in contents.sorted(by: { $0.key < $1.key }) { proposal.add(path, content) }
        for (role, owner) in owners { proposal.owners[role.name] = owner }
        return proposal
    }
}

extension SealiftRole {
    /// Steps below the root.
    var depth: Int {
        switch self {
        case .targets: 1
        case .namespace, .hold: 2
        case .release, .live: 3
        }
    }
}
