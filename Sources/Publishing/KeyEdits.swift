import Names
package import Signing
package import Trust

/// A change of whose signatures a role needs.
package struct KeyChange: Sendable {
    package var adding: [PublicKey] = []

    /// Key IDs, or their beginnings.
    package var removing: [String] = []

    /// `nil` keeps it.
    package var threshold: Int?

    package init() {}
}

extension RegistryDraft {
    /// Changes the keys of `root` itself or of `targets`, in the next root.
    ///
    /// - Throws: `PublishingError.usage` for keys that are not there, or a threshold that can never be met.
    package mutating func rotate(_ role: RoleName, _ change: KeyChange) throws(PublishingError) {
        guard role == .root || role == .targets else {
            throw .usage("the root names the keys of \(role) for the registry itself; rotate root or targets")
        }
        var lines: [String] = []
        try editRoot { root throws(PublishingError) in
            for key in change.adding {
                let object = KeyObject(key)
                root.keys[object.id] = object
            }
            let before = root.roles[role] ?? RoleKeys(keyIDs: [], threshold: 1)
            let after = try before.applying(change, to: "\(role)")
            guard after != before else {
                throw .usage("\(role) has exactly these keys and this threshold already")
            }
            root.roles[role] = after
            lines = before.differences(to: after, of: "\(role)")
        }
        for line in lines { note(line) }
        try signAgainWhatWouldBeStranded()
    }

    /// Takes a key out of every role that names it.
    ///
    /// - Parameters:
    ///   - name: The key's ID, or its beginning.
    ///   - replacement: Comes in its place; without one the role must still have enough keys.
    /// - Returns: The roles that named it.
    /// - Throws: `PublishingError` when nothing names it, or a role would have fewer keys than it needs.
    @discardableResult
    package mutating func revoke(
        _ name: String,
        replacement: PublicKey?
    ) throws(PublishingError) -> [RoleName] {
        let id = try keyID(name)
        var change = KeyChange()
        change.removing = [id]
        change.adding = replacement.map { [$0] } ?? []
        var named: [RoleName] = []
        for role in [RoleName.root, .targets] where root.roles[role]?.keyIDs.contains(id) == true {
            named.append(role)
        }
        let online = [RoleName.snapshot, .timestamp].filter { root.roles[$0]?.keyIDs.contains(id) == true }
        guard online.isEmpty else {
            throw .unpublishable(
                "key \(KeyID.short(id)) signs \(online.map(\.description).joined(separator: ", ")) for the registry "
                    + "itself; ‘sealift root rotate --role online’ gives it another"
            )
        }
        if !named.isEmpty {
            try editRoot { root throws(PublishingError) in
                for key in change.adding {
                    let object = KeyObject(key)
                    root.keys[object.id] = object
                }
                for role in named { root.roles[role] = try root.roles[role]?.applying(change, to: "\(role)") }
            }
        }
        let parents = base.roles.keys.sorted { ($0.depth, $0.name) < ($1.depth, $1.name) }
        for parent in parents {
            let delegations = document(parent)?.delegations?.roles ?? []
            let children = delegations.filter { $0.roleKeys.keyIDs.contains(id) }
            guard !children.isEmpty else { continue }
            try edit(parent) { document throws(PublishingError) in
                try document.replaceKeys(of: children.map(\.role), change)
            }
            named += children.map(\.role)
        }
        let roles = named.map(\.description).joined(separator: ", ")
        let successor =
            replacement.map { "; \(KeyID.short(Authoring.keyID(of: $0))) comes in its place" } ?? ""
        note("key \(KeyID.short(id)) may no longer sign \(roles)\(successor)")
        try signAgainWhatWouldBeStranded()
        return named
    }
}

extension RegistryDraft {
    /// The full ID of a key that some role here names.
    private func keyID(_ name: String) throws(PublishingError) -> String {
        let delegated = base.roles.values.flatMap { $0.document.delegations?.roles ?? [] }
        let ids = root.roles.values.flatMap(\.keyIDs) + delegated.flatMap(\.roleKeys.keyIDs)
        guard let id = try KeyID.match(name, among: ids) else {
            throw .unpublishable(
                "no role here names key \(KeyID.short(name)); ‘sealift metadata status’ lists keys"
            )
        }
        return id
    }
}

extension RoleKeys {
    func applying(_ change: KeyChange, to role: String) throws(PublishingError) -> RoleKeys {
        var result = self
        for name in change.removing {
            guard let id = try KeyID.match(name, among: result.keyIDs) else {
                throw .usage(
                    "\(role) does not have key \(KeyID.short(name)); ‘sealift metadata status’ lists its keys"
                )
            }
            result.keyIDs.removeAll { $0 == id }
        }
        for key in change.adding {
            let id = Authoring.keyID(of: key)
            if !result.keyIDs.contains(id) { result.keyIDs.append(id) }
        }
        result.keyIDs.sort()
        result.threshold = change.threshold ?? threshold
        guard result.threshold >= 1, result.keyIDs.count >= result.threshold else {
            throw .unpublishable(
                "\(role) would have \(Counted.words(result.keyIDs.count, "key")) and need "
                    + "\(Counted.words(result.threshold, "signature")); add a key "
                    + "in the place of one that goes, or give a lower threshold"
            )
        }
        return result
    }

    func differences(to after: RoleKeys, of role: String) -> [String] {
        var lines: [String] = []
        for id in after.keyIDs where !keyIDs.contains(id) {
            lines.append("\(role) gets key \(KeyID.short(id))")
        }
        for id in keyIDs where !after.keyIDs.contains(id) {
            lines.append("\(role) loses key \(KeyID.short(id))")
        }
        if after.threshold != threshold {
            lines.append(
                "\(role) needs \(Counted.words(after.threshold, "signature")) instead of \(threshold)"
            )
        }
        return lines
    }
}

extension TargetsDocument {
    mutating func replaceKeys(of roles: [RoleName], _ change: KeyChange) throws(PublishingError) {
        guard var delegations else { return }
        for key in change.adding {
            let object = KeyObject(key)
            delegations.keys[object.id] = object
        }
        for index in delegations.roles.indices where roles.contains(delegations.roles[index].role) {
            let keys = delegations.roles[index].roleKeys
            delegations.roles[index].roleKeys = try keys.applying(change, to: delegations.roles[index].name)
        }
        let named = Set(delegations.roles.flatMap(\.roleKeys.keyIDs))
        delegations.keys = delegations.keys.filter { named.contains($0.key) }
        self.delegations = delegations
    }
}
