import Names
package import Signing
import Trust

/// The keys that the registry may sign with, as they are at this moment.
///
/// Asked for at each signature, so that a key which was put beside the old one
/// is found by a server that runs. The root decides which of them signs.
package struct OnlineKeys: Sendable {
    private let signers: @Sendable () throws(RegistryError) -> [any Signer]

    package init(_ signers: @escaping @Sendable () throws(RegistryError) -> [any Signer]) {
        self.signers = signers
    }

    /// The signer that `root` names for snapshot and timestamp.
    ///
    /// - Throws: `RegistryError.wrongOnlineKey` when none of the keys is it.
    func roles(under root: RootDocument) throws(RegistryError) -> OnlineRoles {
        var named = try signers()
        for role in [RoleName.snapshot, .timestamp] {
            let keys = (try? root.quorum(for: role))?.keys ?? [:]
            named.removeAll { !keys.values.contains($0.publicKey) }
            guard !named.isEmpty else { throw .wrongOnlineKey(role: "\(role)") }
        }
        return OnlineRoles(signer: named[0])
    }

    /// As ``roles(under:)``, under the root that counts now, which must live.
    ///
    /// Signatures under a root that has ended are worth nothing to a device,
    /// and a clock that is far ahead would sign times that no device believes.
    ///
    /// - Throws: `RegistryError.rootExpired` too.
    func roles(_ view: any RegistryView, now: UnixTime) throws(RegistryError) -> OnlineRoles {
        guard let root = try view.newest("root") else { throw .notCreated }
        let document: RootDocument
        do { document = try Claim.document(in: root.bytes, role: .root) } catch {
            throw .damaged(what: "root version \(root.version)", reason: "\(error)")
        }
        guard now < document.expires else { throw .rootExpired(expires: document.expires, now: now) }
        return try roles(under: document)
    }
}
