import Names
package import Signing
import Transparency
import Trust

extension RegistryDraft {
    /// Gives the registry another key for what it signs itself: snapshot, timestamp and holds.
    ///
    /// In one commit the root names the new key and the administrators delegate
    /// holds to it. From then on nothing that the old key signs counts anywhere,
    /// also not what it had signed before.
    ///
    /// - Throws: `PublishingError` for a key that signs for people, or is the present one.
    package mutating func rotateOnline(to key: PublicKey) throws(PublishingError) {
        let object = KeyObject(key)
        let keys = RoleKeys(keyIDs: [object.id], threshold: 1)
        let people = [RoleName.root, .targets].flatMap { root.roles[$0]?.keyIDs ?? [] }
        guard !people.contains(object.id) else {
            throw .unpublishable(
                "key \(KeyID.short(object.id)) also signs root or targets; make another for the registry"
            )
        }
        guard root.roles[.snapshot] != keys || root.roles[.timestamp] != keys else {
            throw .usage("the registry signs with exactly this key already")
        }
        try editRoot("the registry signs with key \(KeyID.short(object.id)) from now on, and with no other") {
            root throws(PublishingError) in
            root.keys[object.id] = object
            root.roles[.snapshot] = keys
            root.roles[.timestamp] = keys
        }
        try edit(.targets) { document throws(PublishingError) in
            guard var delegations = document.delegations,
                let index = delegations.roles.firstIndex(where: { SealiftRole($0.role) == .hold })
            else { return }
            delegations.keys[object.id] = object
            delegations.roles[index].roleKeys = keys
            let named = Set(delegations.roles.flatMap(\.roleKeys.keyIDs))
            delegations.keys = delegations.keys.filter { named.contains($0.key) }
            document.delegations = delegations
        }
        try signAgainWhatWouldBeStranded()
    }

    /// Lets another key sign the log from a size on; the old one keeps what it signed below it.
    ///
    /// - Throws: `PublishingError` for a key that is not Ed25519, or a size that the old key has not reached.
    package mutating func rotateLog(to key: PublicKey, from size: UInt64) throws(PublishingError) {
        guard let policy = root.sealift, let last = policy.logKeys.indices.last else {
            throw .unpublishable("the root names no log, so there is no key of it to follow")
        }
        guard let verifier = NoteVerifierKey(name: policy.logOrigin, publicKey: key) else {
            throw .usage("a log signs with an Ed25519 key: ‘sealift keygen FILE --algorithm ed25519’")
        }
        guard !policy.logKeys.contains(where: { $0.verifierKey == verifier.description }) else {
            throw .usage("the log signs, or signed, with exactly this key already")
        }
        guard size > policy.logKeys[last].from else {
            throw .usage(
                "the present key signs from size \(policy.logKeys[last].from) on; give a greater one"
            )
        }
        try editRoot("the log is signed by \(verifier) from size \(size) on") {
            root throws(PublishingError) in
            root.sealift?.logKeys[last].to = size - 1
            root.sealift?.logKeys.append(
                SealiftRootPolicy.LogKey(verifierKey: verifier.description, from: size)
            )
        }
    }
}
