import CanonicalJSON
import Names
import Signing
import Support
import Testing
import Trust

/// What several suites arrange.
extension SimulatedRepository {
    /// Lists `keys` for `role` in the document that names it; that is not published yet, and nobody signs otherwise.
    mutating func list(_ keys: [SoftwareKey], threshold: Int, for role: RoleName) {
        let objects = keys.map { KeyObject($0.publicKey) }
        let roleKeys = RoleKeys(keyIDs: objects.map(\.id), threshold: threshold)
        guard root.roles[role] == nil else {
            for key in objects { root.keys[key.id] = key }
            root.roles[role] = roleKeys
            return
        }
        for (parent, document) in roles {
            guard var delegations = document.delegations,
                let place = delegations.roles.firstIndex(where: { $0.role == role })
            else { continue }
            for key in objects { delegations.keys[key.id] = key }
            delegations.roles[place].roleKeys = roleKeys
            roles[parent]?.delegations = delegations
        }
    }

    /// Lets `keys` sign `role` from now on, and publishes everything so.
    mutating func appoint(_ keys: [SoftwareKey], threshold: Int, for role: RoleName) throws {
        let former = signers[.root] ?? []
        list(keys, threshold: threshold, for: role)
        signers[role] = role == .root ? former + keys : keys
        if root.roles[role] != nil { try publishRoot() }
        signers[role] = keys
        try publish()
    }

    /// Publishes the next version of `role`, signed by `keys`, and what names it.
    mutating func publish(_ role: RoleName, by keys: [SoftwareKey]) throws {
        signers[role] = keys
        switch role {
        case .root: try publishRoot()
        case .timestamp: try publishTimestamp()
        case .snapshot: try publishSnapshot()
        case .targets, .delegated: try publish([role])
        }
    }

    /// The name of the newest file of `role`.
    func newestFile(of role: RoleName) -> String {
        switch role {
        case .root: "\(root.version - 1).root.json"
        case .timestamp: "timestamp.json"
        case .snapshot: "\(snapshot.version).snapshot.json"
        case .targets, .delegated: "\(roles[role]?.version ?? 0).\(role).json"
        }
    }

    /// Changes the signatures in the newest file of `role`, and what the timestamp says of it.
    mutating func rewriteSignatures(
        of role: RoleName,
        _ change: (inout [JSONValue]) throws -> Void
    ) throws {
        let name = newestFile(of: role)
        let bytes = try #require(files[name])
        let file = try JSONParser.parse(bytes, maximumLength: bytes.count)
        var signatures = try #require(file["signatures"]?.array)
        try change(&signatures)
        let rewritten = JSONValue.members([
            "signatures": .array(signatures), "signed": try #require(file["signed"]),
        ]).compactJSON
        files[name] = rewritten
        guard role == .snapshot else { return }
        timestamp.snapshot = MetaFile(
            version: snapshot.version,
            length: UInt64(rewritten.count),
            hashes: ["sha256": SHA256.digest(of: rewritten).bytes]
        )
        try signTimestamp()
    }
}

extension World {
    /// What an update takes, and stores, before it comes to `role`.
    static func before(_ role: RoleName) -> Set<RoleName> {
        switch role {
        case .root, .timestamp: []
        case .snapshot: [.timestamp]
        case .targets, .delegated: [.timestamp, .snapshot]
        }
    }

    /// Expects the newest file of each role to be the stored one.
    func expectStored(_ roles: RoleName..., sourceLocation: SourceLocation = #_sourceLocation) {
        let repository = registry.repository
        for role in roles {
            let served = repository.files[repository.newestFile(of: role)]
            let isStored = served != nil && store.contents[role.fileName] == served
            #expect(isStored, "\(role)", sourceLocation: sourceLocation)
        }
    }

    static func keys(_ count: Int) throws -> [SoftwareKey] {
        try (0..<count).map { _ in try SoftwareKey.generate(.ed25519) }
    }

    static func days(_ count: Int64) -> UnixTime { start.adding(seconds: count * 86_400) }
}
