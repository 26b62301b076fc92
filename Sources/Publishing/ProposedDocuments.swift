import Manifest
import Names
import RegistryAPI
import Signing
import Trust

/// A document that a role lists by digest alone, so that nobody who signs the file can read it.
package struct UnseenDocument: Sendable, Equatable {
    package let path: String
    package let digest: String
}

extension Proposal {
    /// Compares the documents in the file with what its roles list, before anybody reads or signs it.
    ///
    /// The signatures cover lengths and digests. Whoever signs is shown the
    /// documents, so each must be the very one that is listed, else the file
    /// shows one thing and has another signed. Channels and settings must be
    /// there; manifests of earlier versions may be listed by digest alone.
    ///
    /// - Parameter state: What is published; what is listed there already need not be in the file.
    /// - Returns: The documents that are listed, and neither in the file nor known to be published.
    /// - Throws: `PublishingError.unpublishable`, naming the document that is missing, listed nowhere, or another
    ///   one, and for a role of no shape that devices take.
    package func checkedDocuments(
        beside state: RegistryState? = nil
    ) throws(PublishingError) -> [UnseenDocument] {
        try checkNothingStandsTwice()
        var unread = Dictionary(targets.map { (TargetPath($0.path), $0.content) }) { first, _ in first }
        var unseen: [UnseenDocument] = []
        for role in roles where role.role != .root {
            let (name, document) = try role.shaped()
            for (path, file) in document.targets.sorted(by: { $0.key < $1.key }) {
                if let content = unread.removeValue(forKey: path) {
                    try Self.check(content, at: "\(path)", as: file, listedBy: name)
                } else if state?.roles[name]?.document.targets[path] != file {
                    unseen.append(try Self.unseen("\(path)", file, in: name, isPublishedKnown: state != nil))
                }
            }
        }
        if let path = unread.keys.min() {
            throw .unpublishable(
                "the file holds \(path), which no role in it lists; do not sign it, and ask whoever made it"
            )
        }
        return unseen
    }

    private func checkNothingStandsTwice() throws(PublishingError) {
        // Sets, for a hostile file of the greatest length has room for some hundred thousand of each.
        var names: Set<RoleName> = []
        for role in roles where !names.insert(role.role).inserted {
            throw .unpublishable("the file holds role \(role.role) twice; do not sign it")
        }
        var paths: Set<String> = []
        for target in targets where !paths.insert(target.path).inserted {
            throw .unpublishable("the file holds \(target.path) twice; do not sign it")
        }
    }

    private static func check(
        _ content: [UInt8],
        at path: String,
        as file: TargetFile,
        listedBy role: SealiftRole
    ) throws(PublishingError) {
        guard file.describes(content) else {
            throw .unpublishable(
                "the file shows another \(path) than would be signed: \(role) lists \(file.length) bytes with SHA-256 "
                    + "\(file.sha256?.hex ?? "none"), found \(content.count) bytes with "
                    + "\(SHA256.digest(of: content).hex); do not sign it, and ask whoever made it"
            )
        }
        do {
            switch role {
            case .live: _ = try LiveDocument(canonical: content, at: path)
            case .release: _ = try ModelManifest(canonical: content, at: path)
            case .targets, .namespace, .hold: _ = try SettingsDocument(canonical: content)
            }
        } catch { throw .unpublishable("\(path) in the file cannot be used: \(error)") }
    }

    private static func unseen(
        _ path: String,
        _ file: TargetFile,
        in role: SealiftRole,
        isPublishedKnown: Bool
    ) throws(PublishingError) -> UnseenDocument {
        var isManifest = false
        if case .release = role { isManifest = true }
        guard isManifest, !isPublishedKnown else {
            throw .unpublishable(
                "\(role) lists \(path) (SHA-256 \(file.sha256?.hex ?? "none")), which is not in the file"
                    + (isPublishedKnown ? " and not published" : "")
                    + ", so nobody can read what would be signed; make the file anew with --out"
            )
        }
        return UnseenDocument(path: path, digest: file.sha256?.hex ?? "none")
    }
}

extension Proposal.Role {
    /// The role and its document, if devices would take that as this role's.
    ///
    /// A signature covers the document, not the role's name, which stands
    /// beside it: the shape is what keeps one from passing as the other.
    func shaped() throws(PublishingError) -> (SealiftRole, TargetsDocument) {
        guard let name = SealiftRole(role), name != .hold else {
            throw .unpublishable("\(role) is no role that people sign; do not sign the file")
        }
        do {
            let document = try TargetsDocument(signed: signed, role: role)
            try SealiftShapes.check(name, document: document)
            return (name, document)
        } catch { throw .unpublishable("the file's \(role) is none that devices take: \(error)") }
    }
}
