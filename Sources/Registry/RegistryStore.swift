package import Names

/// What a decision reads: one consistent state, the committed one.
///
/// Lent for the length of one decision, inside the transaction that writes its
/// outcome; not `Sendable` and not to be kept.
package protocol RegistryView {
    /// The newest committed file of a role.
    func newest(_ role: String) throws(RegistryError) -> RoleFile?

    /// One committed version of a role.
    func file(_ role: String, _ version: Int64) throws(RegistryError) -> RoleFile?

    /// The newest committed version of every role but the timestamp.
    func versions() throws(RegistryError) -> [String: Int64]
    func timestamp() throws(RegistryError) -> TimestampFile?
    func document(_ path: String, _ digest: Digest) throws(RegistryError) -> TargetDocument?

    /// The manifest that a version stands for, once published.
    func manifest(_ model: ModelName, _ version: ModelVersion) throws(RegistryError) -> Digest?

    /// The length of a blob, if its row says that it is present.
    func blobLength(_ digest: Digest) throws(RegistryError) -> UInt64?
    func hasBlockProof(_ proof: BlockProof) throws(RegistryError) -> Bool

    /// The number of log entries, which is the index of the next.
    func logSize() throws(RegistryError) -> Int64
    func setting(_ name: String) throws(RegistryError) -> String?

    /// What apps need of a model, by app.
    func expectations(of model: ModelName) throws(RegistryError) -> [RegisteredExpectation]
}

/// A file and a list of its blocks that were found to describe the same bytes.
package struct BlockProof: Sendable, Hashable {
    package let file: Digest
    package let list: Digest
    package let blockSize: UInt64

    package init(file: Digest, list: Digest, blockSize: UInt64) {
        self.file = file
        self.list = list
        self.blockSize = blockSize
    }
}

/// Where a registry is kept: one method for each decision, never a bare transaction.
///
/// Each method that changes something is one transaction: the rule passed in
/// reads the state and decides, the store writes what it decided, and no other
/// decision falls between. So a store may be shared by several processes.
package protocol RegistryStore: Sendable {
    /// Whether what is stored is no longer where it was opened.
    var isGone: Bool { get }

    // MARK: Decisions

    /// Writes the first commit.
    ///
    /// - Throws: `.alreadyCreated` when there is one.
    func create(_ first: FirstCommit) async throws(RegistryError)

    /// Writes what the rule decides; `nil` writes nothing.
    func commit(
        _ rule: @Sendable (any RegistryView) throws(RegistryError) -> Revision?
    ) async throws(RegistryError) -> Revision?

    /// Shows the newest commit to devices, if the rule signs a timestamp.
    func publish(
        _ rule: @Sendable (any RegistryView) throws(RegistryError) -> TimestampFile?
    ) async throws(RegistryError) -> TimestampFile?

    /// The digests that are not present; those that are stay for as long as the lease says.
    func lease(_ digests: [Digest], until: UnixTime) async throws(RegistryError) -> [Digest]

    /// Records that the blob store holds a blob.
    func recordBlob(
        _ digest: Digest,
        length: UInt64,
        lease: UnixTime,
        now: UnixTime
    ) async throws(RegistryError)
    func recordBlockProof(_ proof: BlockProof) async throws(RegistryError)
    func recordToken(_ token: Token, digest: Digest, now: UnixTime) async throws(RegistryError)

    /// Takes tokens back.
    ///
    /// - Returns: Those that were not taken back before.
    func revokeTokens(_ choice: TokenChoice, now: UnixTime) async throws(RegistryError) -> [IssuedToken]

    /// Keeps an expectation in place of the app's last one, and that it was registered.
    func recordExpectation(_ expectation: RegisteredExpectation) async throws(RegistryError)

    /// Forgets an expectation, and keeps that it was removed.
    ///
    /// - Returns: Whether there was one.
    func removeExpectation(
        of app: AppName,
        for model: ModelName,
        by label: String,
        now: UnixTime
    ) async throws(RegistryError) -> Bool

    /// Appends to what operators ask about afterwards.
    func recordEvent(_ event: RegistryEvent) async throws(RegistryError)

    // MARK: Reads of what is published

    func timestamp() throws(RegistryError) -> TimestampFile?
    func file(_ role: String, version: Int64) throws(RegistryError) -> RoleFile?
    func document(_ path: String, _ digest: Digest) throws(RegistryError) -> TargetDocument?
    func publishedVersions() throws(RegistryError) -> [PublishedVersion]

    /// The newest published file of a role.
    func newest(_ role: String) throws(RegistryError) -> RoleFile?

    // MARK: Reads of the registry's own

    /// Runs a read over one consistent state, the committed one.
    func read<Answer: Sendable>(
        _ body: @Sendable (any RegistryView) throws(RegistryError) -> Answer
    ) throws(RegistryError) -> Answer
    func blobLength(_ digest: Digest) throws(RegistryError) -> UInt64?

    /// Any blob whose row says that it is present.
    func someBlob() throws(RegistryError) -> Digest?

    /// The token with this digest, unless it was revoked.
    func token(digest: Digest) throws(RegistryError) -> Token?

    /// Display names by role.
    func owners() throws(RegistryError) -> [String: OwnerName]

    /// Every token that was ever issued, in that order.
    func tokens() throws(RegistryError) -> [IssuedToken]

    /// Those of one model, or of all, by model and app.
    func expectations(of model: ModelName?) throws(RegistryError) -> [RegisteredExpectation]
    func logRows(from index: Int64, limit: Int) throws(RegistryError) -> [LogRow]
    func counts() throws(RegistryError) -> RegistryCounts
}

/// What `init` writes.
package struct FirstCommit: Sendable {
    package let revision: Revision
    package let timestamp: TimestampFile
    package let settings: [String: String]

    package init(revision: Revision, timestamp: TimestampFile, settings: [String: String]) {
        self.revision = revision
        self.timestamp = timestamp
        self.settings = settings
    }
}

/// Something that happened, for people who look afterwards; without secrets.
package struct RegistryEvent: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case created, committed, refused
        case tokenIssued = "token-issued"
        case tokenRevoked = "token-revoked"
        case expectationRegistered = "expectation-registered"
        case expectationRemoved = "expectation-removed"
        case expectationBroken = "expectation-broken"
    }

    package let time: UnixTime
    package let kind: Kind

    /// Who or what it is about.
    package let subject: String
    package let detail: String

    package init(time: UnixTime, kind: Kind, subject: String, detail: String) {
        self.time = time
        self.kind = kind
        self.subject = subject
        self.detail = detail
    }
}

/// Sizes for operators.
package struct RegistryCounts: Sendable, Equatable {
    package let models: Int64
    package let versions: Int64
    package let blobs: Int64
    package let blobBytes: Int64
    package let logEntries: Int64

    /// Versions of the newest committed and the newest published snapshot.
    package let committed: Int64
    package let published: Int64

    package init(
        models: Int64,
        versions: Int64,
        blobs: Int64,
        blobBytes: Int64,
        logEntries: Int64,
        committed: Int64,
        published: Int64
    ) {
        self.models = models
        self.versions = versions
        self.blobs = blobs
        self.blobBytes = blobBytes
        self.logEntries = logEntries
        self.committed = committed
        self.published = published
    }
}
