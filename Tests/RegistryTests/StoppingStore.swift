import Names
import Registry

/// A store whose process dies before it publishes.
struct StoppingStore: RegistryStore {
    static let stopped = RegistryError.storage(reason: "stopped by the test")

    let store: any RegistryStore

    var isGone: Bool { store.isGone }

    func publish(
        _ rule: @Sendable (any RegistryView) throws(RegistryError) -> TimestampFile?
    ) async throws(RegistryError) -> TimestampFile? { throw Self.stopped }

    func create(_ first: FirstCommit) async throws(RegistryError) { try await store.create(first) }

    func commit(
        _ rule: @Sendable (any RegistryView) throws(RegistryError) -> Revision?
    ) async throws(RegistryError) -> Revision? { try await store.commit(rule) }

    func lease(_ digests: [Digest], until: UnixTime) async throws(RegistryError) -> [Digest] {
        try await store.lease(digests, until: until)
    }

    func recordBlob(
        _ digest: Digest,
        length: UInt64,
        lease: UnixTime,
        now: UnixTime
    ) async throws(RegistryError) {
        try await store.recordBlob(digest, length: length, lease: lease, now: now)
    }

    func recordBlockProof(_ proof: BlockProof) async throws(RegistryError) {
        try await store.recordBlockProof(proof)
    }

    func recordToken(_ token: Token, digest: Digest, now: UnixTime) async throws(RegistryError) {
        try await store.recordToken(token, digest: digest, now: now)
    }

    func revokeTokens(_ choice: TokenChoice, now: UnixTime) async throws(RegistryError) -> [IssuedToken] {
        try await store.revokeTokens(choice, now: now)
    }

    func owners() throws(RegistryError) -> [String: OwnerName] { try store.owners() }

    func tokens() throws(RegistryError) -> [IssuedToken] { try store.tokens() }

    func recordExpectation(_ expectation: RegisteredExpectation) async throws(RegistryError) {
        try await store.recordExpectation(expectation)
    }

    func removeExpectation(
        of app: AppName,
        for model: ModelName,
        by label: String,
        now: UnixTime
    ) async throws(RegistryError) -> Bool {
        try await store.removeExpectation(of: app, for: model, by: label, now: now)
    }

    func expectations(of model: ModelName?) throws(RegistryError) -> [RegisteredExpectation] {
        try store.expectations(of: model)
    }

    func recordEvent(_ event: RegistryEvent) async throws(RegistryError) {
        try await store.recordEvent(event)
    }

    func timestamp() throws(RegistryError) -> TimestampFile? { try store.timestamp() }

    func file(_ role: String, version: Int64) throws(RegistryError) -> RoleFile? {
        try store.file(role, version: version)
    }

    func document(_ path: String, _ digest: Digest) throws(RegistryError) -> TargetDocument? {
        try store.document(path, digest)
    }

    func publishedVersions() throws(RegistryError) -> [PublishedVersion] { try store.publishedVersions() }

    func newest(_ role: String) throws(RegistryError) -> RoleFile? { try store.newest(role) }

    func read<Answer: Sendable>(
        _ body: @Sendable (any RegistryView) throws(RegistryError) -> Answer
    ) throws(RegistryError) -> Answer { try store.read(body) }

    func blobLength(_ digest: Digest) throws(RegistryError) -> UInt64? { try store.blobLength(digest) }

    func someBlob() throws(RegistryError) -> Digest? { try store.someBlob() }

    func token(digest: Digest) throws(RegistryError) -> Token? { try store.token(digest: digest) }

    func logRows(from index: Int64, limit: Int) throws(RegistryError) -> [LogRow] {
        try store.logRows(from: index, limit: limit)
    }

    func counts() throws(RegistryError) -> RegistryCounts { try store.counts() }
}
