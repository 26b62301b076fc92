package import Blobs
import Blocking
import Durable
package import Names
package import RegistryAPI
package import Signing
import Trust

/// The use cases of a registry: create, commit, renew, tokens, blobs, and what devices read.
///
/// Knows nothing of HTTP and nothing of SQL. Each decision is one transaction
/// of the store, so several processes may serve one registry; nothing here is
/// remembered between calls.
package struct Registry: Sendable {
    package let store: any RegistryStore
    package let blobs: any BlobStore
    let keys: OnlineKeys

    /// - Throws: `.notCreated` for an empty store, `.wrongOnlineKey` when the root does not name the key.
    package init(
        store: any RegistryStore,
        blobs: any BlobStore,
        onlineSigner: any Signer
    ) throws(RegistryError) {
        try self.init(
            store: store,
            blobs: blobs,
            onlineKeys: OnlineKeys { () throws(RegistryError) in [onlineSigner] }
        )
    }

    /// - Throws: `.notCreated` for an empty store, `.wrongOnlineKey` when the root names none of the keys.
    package init(
        store: any RegistryStore,
        blobs: any BlobStore,
        onlineKeys: OnlineKeys
    ) throws(RegistryError) {
        self.store = store
        self.blobs = blobs
        keys = onlineKeys
        let root = try store.read { view throws(RegistryError) in try view.newest("root") }
        guard let root else { throw .notCreated }
        let document: RootDocument
        do { document = try Claim.document(in: root.bytes, role: .root) } catch {
            throw .damaged(what: "root version \(root.version)", reason: "\(error)")
        }
        _ = try onlineKeys.roles(under: document)
    }

    /// Takes signed role files and shows them to devices, all or nothing.
    ///
    /// Idempotent: the same files again give the same answer. After a crash
    /// between the two steps the commit stands, and ``refreshOnline(now:)``
    /// or the next commit shows it.
    ///
    /// - Throws: `RegistryError`, with nothing changed; after a `.storage`
    ///   error of the second step the commit may stand unpublished.
    package func commit(
        _ request: CommitRequest,
        by authority: CommitAuthority,
        now: UnixTime
    ) async throws(RegistryError) -> CommitResponse {
        let rule = try CommitRule(request, now: now, keys: keys)
        try authority.check(rule.posted)
        do {
            try await prove(rule)
        } catch {
            await recordRefusal(error, by: authority, now: now)
            throw error
        }
        try step("commit.before")
        let revision = try await store.commit { view throws(RegistryError) in
            guard let draft = try rule.decide(view) else { return nil }
            if let file = draft.unproven.first {
                throw .blockList(
                    path: file.path,
                    reason: "its blocks changed while they were compared; try again"
                )
            }
            var revision = draft.revision
            revision.author = authority.label
            return revision
        }
        try step("commit.after-transaction")
        try step("publish.before")
        let timestamp = try await publish(now: now)
        try step("publish.after")
        return CommitResponse(
            snapshot: revision?.snapshot ?? timestamp.snapshot,
            timestamp: timestamp.version,
            state: .published
        )
    }

    /// Signs again what the registry signs itself, as far as that is due, and publishes what a crash left unpublished.
    ///
    /// Called before the first answer and from then on every few minutes.
    ///
    /// - Throws: `RegistryError`; `.rootExpired` signs nothing, and what is published stays.
    package func refreshOnline(now: UnixTime) async throws(RegistryError) -> OnlineRefresh {
        let keys = keys
        let revision = try await store.commit { view throws(RegistryError) in
            try keys.roles(view, now: now).renewal(view, now: now)
        }
        let before = try store.timestamp()?.version
        let timestamp = try await publish(now: now)
        return OnlineRefresh(
            snapshot: revision?.snapshot,
            timestamp: timestamp.version == before ? nil : timestamp.version
        )
    }

    /// Signs the timestamp over the newest snapshot, if the last one does not show it or is old.
    func publish(now: UnixTime) async throws(RegistryError) -> TimestampFile {
        let keys = keys
        let signed = try await store.publish { view throws(RegistryError) in
            try keys.roles(view, now: now).nextTimestamp(view, now: now)
        }
        if let signed { return signed }
        guard let timestamp = try store.timestamp() else { throw .notCreated }
        return timestamp
    }

    /// Judges the request over the state of this moment, and reads the files whose blocks nobody has compared yet.
    ///
    /// Outside the transaction: a large file takes seconds, and a request that
    /// is wrong never makes another wait.
    private func prove(_ rule: CommitRule) async throws(RegistryError) {
        let store = store
        let comparison = BlockComparison(blobs: blobs)
        let proven = try await BlockingPool.shared.run { () throws(RegistryError) -> [BlockProof] in
            let draft = try store.read { view throws(RegistryError) in try rule.decide(view) }
            let blobs = draft?.revision.blobs.values.reduce(into: Set<Digest>()) { $0.formUnion($1) } ?? []
            for digest in blobs.sorted() where try !isWhole(digest) {
                throw .missingBlob(digest: digest, path: "the version")
            }
            var proven: [BlockProof] = []
            for file in draft?.unproven ?? [] {
                try comparison.check(file)
                proven.append(file.proof)
            }
            return proven
        }
        for proof in proven { try await store.recordBlockProof(proof) }
    }

    /// Keeps what was refused and why; a conflict is no refusal but two publishers at once.
    ///
    /// The refusal is the answer whether or not it could be recorded.
    private func recordRefusal(
        _ error: RegistryError,
        by authority: CommitAuthority,
        now: UnixTime
    ) async {
        if case .conflict = error { return }
        guard !error.isOutage else { return }
        try? await store.recordEvent(
            RegistryEvent(time: now, kind: .refused, subject: authority.label, detail: "\(error)")
        )
    }

    private func step(_ name: String) throws(RegistryError) {
        do { try CrashPoint.reached(name) } catch { throw .storage(reason: "\(error)") }
    }
}

/// What a refresh signed; `nil` for what was not due.
package struct OnlineRefresh: Sendable, Equatable {
    package let snapshot: Int64?
    package let timestamp: Int64?

    package init(snapshot: Int64?, timestamp: Int64?) {
        self.snapshot = snapshot
        self.timestamp = timestamp
    }
}
