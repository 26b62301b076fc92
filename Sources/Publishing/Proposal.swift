package import CanonicalJSON
package import Names
package import RegistryAPI
package import Signing
package import Trust

/// The next versions of some roles, with the signatures that they have so far.
///
/// It travels as a file between people who sign, `sealift/proposal@1`:
/// `{type, notes, owners: {role: name}, roles: [{role, file, signers: [{keyids, threshold}]}], targets: [{path, content}]}`.
/// `file` is the TUF file itself, so any TUF tool can read or sign it; `signers`
/// and `notes` are hints for people and for tools without a network. What
/// counts is computed again from the registry's own verified state.
package struct Proposal: Sendable, Equatable {
    /// Keys, by ID, any `threshold` of which must sign.
    package struct Wanted: Sendable, Equatable {
        package let keyIDs: [String]
        package let threshold: Int
    }

    package struct Role: Sendable, Equatable {
        package let role: RoleName
        package let signed: JSONValue

        /// By key ID.
        package internal(set) var signatures: [String: [UInt8]] = [:]
        package let wanted: [Wanted]

        /// The file as it stands, signed or not.
        package var file: [UInt8] { Authoring.envelope(signed, signatures: signatures).compactJSON }

        package var version: Int64? { signed["version"]?.integer }
        package var expires: UnixTime? { signed["expires"]?.string.flatMap { UnixTime($0) } }
    }

    package internal(set) var roles: [Role] = []
    package internal(set) var targets: [CommitRequest.Target] = []

    /// Display names by role, for the registry to keep beside the roles.
    package internal(set) var owners: [String: OwnerName] = [:]

    /// What whoever made it says of it: words that nobody signs, never to be shown as what is so.
    package let notes: [String]

    package init(notes: [String] = []) { self.notes = notes }

    mutating func add(_ role: RoleName, _ signed: JSONValue, wanting quorums: [Quorum]) {
        let wanted = quorums.map { Wanted(keyIDs: $0.keys.keys.sorted(), threshold: $0.threshold) }
        roles.append(Role(role: role, signed: signed, wanted: wanted))
    }

    /// The channels and settings that roles list and that are not here.
    var unreadDocuments: [(role: SealiftRole, path: String)] {
        roles.flatMap { role -> [(role: SealiftRole, path: String)] in
            guard let name = SealiftRole(role.role),
                let document = try? TargetsDocument(signed: role.signed, role: role.role)
            else { return [] }
            if case .release = name { return [] }
            let paths = document.targets.map { "\($0.key)" }.sorted()
            return paths.filter { path in !targets.contains { $0.path == path } }.map { (name, $0) }
        }
    }

    mutating func add(_ path: String, _ content: [UInt8]) {
        targets.append(CommitRequest.Target(path: path, content: content))
    }

    /// The key IDs that some role wants and has not got, as long as it needs more.
    package var wantedKeyIDs: Set<String> {
        var ids: Set<String> = []
        for role in roles {
            for wanted in role.wanted {
                let have = wanted.keyIDs.filter { role.signatures[$0] != nil }
                guard have.count < wanted.threshold else { continue }
                ids.formUnion(wanted.keyIDs.filter { role.signatures[$0] == nil })
            }
        }
        return ids
    }

    /// Whether some role wants this key.
    func wants(_ keyID: String) -> Bool {
        roles.contains { role in role.wanted.contains { $0.keyIDs.contains(keyID) } }
    }

    /// Puts an empty signature where a key would sign, to foretell what would be missing.
    mutating func mark(_ keyID: String) {
        for index in roles.indices where roles[index].wanted.contains(where: { $0.keyIDs.contains(keyID) }) {
            roles[index].signatures[keyID] = roles[index].signatures[keyID] ?? []
        }
    }

    /// Signs every role that wants the signer's key; blocks while the signer works.
    ///
    /// - Returns: The roles that got a signature.
    @discardableResult
    package mutating func sign(by signer: any Signer) throws(PublishingError) -> [RoleName] {
        let id = Authoring.keyID(of: signer.publicKey)
        var names: [RoleName] = []
        for index in roles.indices where roles[index].wanted.contains(where: { $0.keyIDs.contains(id) }) {
            do {
                roles[index].signatures[id] = try signer.signature(of: roles[index].signed.olpcCanonical)
            } catch { throw .unpublishable("\(roles[index].role) could not be signed: \(error)") }
            names.append(roles[index].role)
        }
        return names
    }

    /// Takes the signatures of another copy.
    ///
    /// - Throws: `PublishingError.unpublishable` when it is another change: signatures never move between those.
    package mutating func merge(_ other: Proposal) throws(PublishingError) {
        let isSame =
            roles.map(\.role) == other.roles.map(\.role) && targets == other.targets && owners == other.owners
            && zip(roles, other.roles).allSatisfy { $0.signed.olpcCanonical == $1.signed.olpcCanonical }
        guard isSame else {
            throw .unpublishable(
                "the files hold different changes; collect signatures of one and the same file"
            )
        }
        for index in roles.indices {
            roles[index].signatures.merge(other.roles[index].signatures) { first, _ in first }
        }
    }

    /// What the registry is asked to take.
    package var request: CommitRequest {
        CommitRequest(
            roles: roles.map { CommitRequest.Role(role: "\($0.role)", metadata: $0.file) },
            targets: targets,
            owners: owners
        )
    }
}

extension Proposal {
    private static let type = "sealift/proposal@1"

    /// Greatest length of the file, as much as a registry takes in one request and its base64.
    package static let maximumLength = ByteCount.mebibytes(16)

    package var bytes: [UInt8] {
        JSONValue.members([
            "type": .text(Self.type),
            "owners": OwnerList(owners: owners).json["owners"] ?? .null,
            "notes": .array(notes.map { .text($0) }),
            "roles": .array(
                roles.map { role in
                    .members([
                        "role": .text("\(role.role)"),
                        "file": Authoring.envelope(role.signed, signatures: role.signatures),
                        "signers": .array(
                            role.wanted.map { wanted in
                                .members([
                                    "keyids": .array(wanted.keyIDs.map { .text($0) }),
                                    "threshold": .integer(Int64(wanted.threshold)),
                                ])
                            }
                        ),
                    ])
                }
            ),
            "targets": .array(
                targets.map { target in
                    .members(["path": .text(target.path), "content": .text(Base64.text(target.content))])
                }
            ),
        ]).compactJSON
    }

    /// Reads the file.
    ///
    /// - Throws: `PublishingError.unpublishable` naming the member that is wrong.
    package init(_ bytes: [UInt8]) throws(PublishingError) {
        let value: JSONValue
        guard !bytes.isEmpty else { throw .unpublishable("not a proposal: it is empty") }
        do { value = try JSONParser.parse(bytes, maximumLength: Int(Self.maximumLength.rawValue)) } catch {
            throw .unpublishable("not a proposal: \(error)")
        }
        func wrong(_ what: String) -> PublishingError { .unpublishable("not a proposal: \(what)") }
        guard value["type"]?.string == Self.type else { throw wrong("its type is not ‘\(Self.type)’") }
        if value["owners"] != nil {
            do { owners = try OwnerList(value).owners } catch { throw wrong("\(error)") }
        }
        notes = (value["notes"]?.array ?? []).compactMap(\.string)
        for entry in value["roles"]?.array ?? [] {
            guard let name = entry["role"]?.string, let signed = entry["file"]?["signed"],
                let signatures = entry["file"]?["signatures"]?.array
            else { throw wrong("a role without ‘role’ or ‘file’") }
            var wanted: [Wanted] = []
            for signers in entry["signers"]?.array ?? [] {
                guard let ids = signers["keyids"]?.array, let threshold = signers["threshold"]?.integer else {
                    throw wrong("‘signers’ of \(name)")
                }
                wanted.append(Wanted(keyIDs: ids.compactMap(\.string), threshold: Int(clamping: threshold)))
            }
            var role = Role(role: RoleName(name), signed: signed, wanted: wanted)
            for signature in signatures {
                guard let id = signature["keyid"]?.string,
                    let bytes = signature["sig"]?.string.flatMap({ Hex.bytes($0) })
                else { throw wrong("a signature of \(name)") }
                if !bytes.isEmpty { role.signatures[id] = bytes }
            }
            roles.append(role)
        }
        guard !roles.isEmpty else { throw wrong("it holds no role") }
        for target in value["targets"]?.array ?? [] {
            guard let path = target["path"]?.string,
                let content = target["content"]?.string.flatMap({ Base64.bytes($0) })
            else { throw wrong("a target without ‘path’ or ‘content’") }
            targets.append(CommitRequest.Target(path: path, content: content))
        }
    }
}
