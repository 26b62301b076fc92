import Names
import RegistryAPI
import Signing
import Trust

/// Decides one commit over one state of the registry.
///
/// In this order, and nothing is written before the last line has held:
///
/// 1. Each posted role is the successor of the one that counts now.
/// 2. Parents first, each file has its delegator's threshold of signatures and
///    the shape of its role, in the chain that results from the commit.
/// 3. Signatures live, and not longer than the policy allows; those above them live too.
/// 4. What a posted role delegates to still verifies under it.
/// 5. Every document that a posted role newly lists is posted or stored, obeys
///    its own rules, and is what its path says; nothing else was posted.
/// 6. A published version keeps its manifest; channels lead to released
///    manifests; every blob is present.
/// 7. What newly enters a channel serves every app that registered its needs,
///    except those that the request names.
///
/// The online roles and the log entries are then made from what was accepted.
/// Where keys change, ``DeviceRehearsal`` tries the result as a device would.
struct CommitRule {
    let request: CommitRequest
    let posted: PostedRoles
    let now: UnixTime
    let keys: OnlineKeys

    init(_ request: CommitRequest, now: UnixTime, keys: OnlineKeys) throws(RegistryError) {
        self.request = request
        posted = try PostedRoles(request)
        self.now = now
        self.keys = keys
    }

    /// - Returns: What to write; `nil` when exactly these files were committed before, so that a
    ///   publisher whose connection broke may post them again.
    func decide(_ view: any RegistryView) throws(RegistryError) -> Draft? {
        if try isRepetition(view) { return nil }
        try checkVersions(view)
        var chain = try Chain(view: view, posted: posted)
        let lifetime = try lifetime(chain.root.document, view)
        let latest = now.adding(seconds: lifetime + OnlineLifetime.clockTolerance)
        try checkLifetime(
            "root",
            of: chain.root.document.expires,
            latest: latest,
            isPosted: posted[.root] != nil
        )
        var documents = DocumentRules(request: request, view: view)
        for case .targets(let role) in posted.files.map(\.role) {
            guard let verified = try chain.document(role) else { continue }
            try checkLifetime(role.name, of: verified.document.expires, latest: latest, isPosted: true)
            try checkDelegators(of: role, &chain, latest: latest)
            try documents.take(verified.document, of: role, replacing: try previous(role, view))
        }
        let online = try keys.roles(under: chain.root.document)
        try checkChildren(&chain, view, online)
        try documents.checkNothingIsLeft()
        try checkChannels(&chain, documents)
        let broken = try checkExpectations(&chain, documents, view)
        let draft = try online.draft(posted, documents: documents, broken: broken, view: view, now: now)
        if posted[.root] != nil || posted[.targets] != nil {
            try DeviceRehearsal(revision: draft.revision, view: view, online: online, now: now).check()
        }
        return draft
    }

    private func isRepetition(_ view: any RegistryView) throws(RegistryError) -> Bool {
        for file in posted.files {
            guard let stored = try view.newest("\(file.role.roleName)"), stored.bytes == file.bytes else {
                return false
            }
        }
        return true
    }

    /// Reads the version before any signature is checked, so that a publisher
    /// who was overtaken is told so rather than that its chain is wrong.
    private func checkVersions(_ view: any RegistryView) throws(RegistryError) {
        let current = try view.versions()
        for file in posted.files {
            let name = "\(file.role.roleName)"
            let version: Int64
            do { version = try Claim.version(of: file.bytes, role: file.role.roleName) } catch {
                throw .untrusted(role: name, reason: "\(error)")
            }
            guard version == (current[name] ?? 0) + 1 else {
                var relevant: [String: Int64] = [:]
                for file in posted.files {
                    let name = "\(file.role.roleName)"
                    relevant[name] = current[name] ?? 0
                }
                throw .conflict(role: name, posted: version, current: relevant)
            }
        }
    }

    private func checkLifetime(
        _ role: String,
        of expires: UnixTime,
        latest: UnixTime,
        isPosted: Bool
    ) throws(RegistryError) {
        guard isPosted, expires <= now || expires > latest else { return }
        throw .lifetime(role: role, expires: expires, now: now, latest: latest)
    }

    /// A device refuses everything below an expired role, so what is below it cannot be published.
    private func checkDelegators(
        of role: SealiftRole,
        _ chain: inout Chain,
        latest: UnixTime
    ) throws(RegistryError) {
        guard chain.root.document.expires > now else {
            throw .lifetime(role: "root", expires: chain.root.document.expires, now: now, latest: latest)
        }
        var above = role.delegator
        while let delegator = above {
            if let document = try chain.document(delegator)?.document, document.expires <= now {
                throw .lifetime(role: delegator.name, expires: document.expires, now: now, latest: latest)
            }
            above = delegator.delegator
        }
    }

    /// What the root says, as those who sign go by it; else what the profile did.
    private func lifetime(
        _ root: RootDocument,
        _ view: any RegistryView
    ) throws(RegistryError) -> Int64 {
        if let seconds = root.sealift?.maximumLifetimes[.targets] { return seconds }
        guard let name = try view.setting(SettingName.profile), let profile = RegistryProfile(rawValue: name)
        else { throw .notCreated }
        return profile.offlineLifetime
    }

    func previous(
        _ role: SealiftRole,
        _ view: any RegistryView
    ) throws(RegistryError) -> TargetsDocument? {
        guard let stored = try view.newest(role.name) else { return nil }
        do { return try Claim.document(in: stored.bytes, role: role.roleName) } catch {
            throw .damaged(what: "role \(role) version \(stored.version)", reason: "\(error)")
        }
    }

    /// A device that follows the new delegations must still accept every file that is there.
    private func checkChildren(
        _ chain: inout Chain,
        _ view: any RegistryView,
        _ online: OnlineRoles
    ) throws(RegistryError) {
        let parents = Set(posted.files.map(\.role))
        let present = try view.versions().keys.compactMap { SealiftRole(name: $0) }.sorted {
            $0.name < $1.name
        }
        for role in present where role != .hold {
            let parent: PostableRole = role.delegator.map { .targets($0) } ?? .root
            guard parents.contains(parent) else { continue }
            _ = try chain.document(role)
        }
        for role in SealiftShapes.onlineRoles {
            guard try chain.isSigner(online.signer.publicKey, of: role) else {
                throw .wrongOnlineKey(role: "\(role)")
            }
        }
    }

    /// What a channel names must be in the release role, whichever of the two was posted.
    private func checkChannels(_ chain: inout Chain, _ documents: DocumentRules) throws(RegistryError) {
        var models: Set<ModelName> = []
        for case .targets(let role) in posted.files.map(\.role) {
            switch role {
            case .live(let model), .release(let model): models.insert(model)
            case .targets, .namespace, .hold: break
            }
        }
        for model in models.sorted() {
            guard let live = try chain.document(.live(model)) else { continue }
            let release = try chain.document(.release(model))
            try documents.checkChannels(of: model, live: live.document, release: release?.document)
        }
    }
}
