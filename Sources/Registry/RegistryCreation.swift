package import Names
package import RegistryAPI
package import Signing

/// Everything that `init` decided about a new registry.
package struct RegistryCreation: Sendable {
    /// A team that may publish: its keys sign the namespace role.
    package struct NamespaceGrant: Sendable {
        package let namespace: Namespace
        package let keys: [PublicKey]
        package let threshold: Int

        /// A display name, kept in the database and outside the log.
        package let owner: OwnerName?

        package init(namespace: Namespace, keys: [PublicKey], threshold: Int = 1, owner: OwnerName?) {
            self.namespace = namespace
            self.keys = keys
            self.threshold = threshold
            self.owner = owner
        }
    }

    package let profile: RegistryProfile

    /// All keys of the root role; its threshold is the profile's.
    package let rootSigners: [any Signer]

    /// All keys of the top-level targets role; its threshold is the profile's.
    package let targetsSigners: [any Signer]

    /// Signs snapshot, timestamp and `sealift~hold` from now on.
    package let onlineSigner: any Signer

    /// Names the log in every checkpoint: a host name and a path (C2SP tlog-checkpoint).
    package let logOrigin: String

    /// The key that will sign checkpoints, Ed25519.
    package let logKey: PublicKey
    package let namespaces: [NamespaceGrant]
    package let now: UnixTime

    package init(
        profile: RegistryProfile,
        rootSigners: [any Signer],
        targetsSigners: [any Signer],
        onlineSigner: any Signer,
        logOrigin: String,
        logKey: PublicKey,
        namespaces: [NamespaceGrant],
        now: UnixTime
    ) {
        self.profile = profile
        self.rootSigners = rootSigners
        self.targetsSigners = targetsSigners
        self.onlineSigner = onlineSigner
        self.logOrigin = logOrigin
        self.logKey = logKey
        self.namespaces = namespaces
        self.now = now
    }
}
