import Durable
package import Names
package import Registry
import SQLiteKit

/// A registry in one SQLite file: one connection writes, a few read.
package final class SQLiteRegistryStore: RegistryStore {
    private let writer: Writer
    private let readers: Readers

    /// Opens the database of a registry, bringing an older schema up to date after a backup.
    ///
    /// - Parameters:
    ///   - path: A file that is there: a mistyped path must not become an empty registry.
    ///   - migrations: Those of this program; others only in tests.
    ///   - now: Recorded with the migrations that are applied.
    /// - Returns: The store, its schema that of this program.
    /// - Throws: `StoreError`.
    package static func open(
        path: String,
        migrations: [EmbeddedMigration] = embeddedMigrations,
        now: UnixTime
    ) throws(StoreError) -> SQLiteRegistryStore {
        let found: Bool
        do { found = try Durable.kind(of: path) != nil } catch {
            throw .failed(path: path, reason: "\(error)")
        }
        guard found else { throw .missing(path: path) }
        return try SQLiteRegistryStore(path: path, migrations: migrations, now: now)
    }

    /// The migrations that opening the database would apply; changes nothing.
    ///
    /// - Throws: `StoreError`, as ``open(path:migrations:now:)``.
    package static func pendingMigrations(
        path: String,
        migrations: [EmbeddedMigration] = embeddedMigrations
    ) throws(StoreError) -> [String] {
        do {
            guard try Durable.kind(of: path) != nil else { throw StoreError.missing(path: path) }
            let connection = try Connection(path: path, mode: .readOnly)
            return try Schema(path: path, migrations: migrations).pending(connection).map(\.name)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .failed(path: path, reason: "\(error)")
        }
    }

    /// Makes a new, empty database, readable by its owner alone.
    ///
    /// - Throws: `StoreError.exists` when there is a file at `path`.
    package static func create(path: String, now: UnixTime) throws(StoreError) -> SQLiteRegistryStore {
        do {
            guard try Durable.kind(of: path) == nil else { throw StoreError.exists(path: path) }
            // SQLite gives its side files the mode of this one.
            try Durable.writeAtomically(path, [], mode: 0o600)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .failed(path: path, reason: "\(error)")
        }
        return try SQLiteRegistryStore(path: path, migrations: embeddedMigrations, now: now)
    }

    private init(path: String, migrations: [EmbeddedMigration], now: UnixTime) throws(StoreError) {
        do {
            let database = try Database(path: path, mode: .readWrite)
            _ = try Schema(path: path, migrations: migrations).bringUp(database.connection, now: now)
            try database.connection.useWriteAheadLog()
            writer = Writer(database: database)
            readers = try Readers(path: path, count: 4)
        } catch let error as StoreError {
            throw error
        } catch let error as SQLiteError where error.isCorrupt {
            throw .foreign(path: path, reason: error.message)
        } catch {
            throw .failed(path: path, reason: "\(error)")
        }
    }

    // MARK: Decisions

    package func create(_ first: FirstCommit) async throws(RegistryError) { try await writer.create(first) }

    package func commit(
        _ rule: @Sendable (any RegistryView) throws(RegistryError) -> Revision?
    ) async throws(RegistryError) -> Revision? { try await writer.commit(rule) }

    package func publish(
        _ rule: @Sendable (any RegistryView) throws(RegistryError) -> TimestampFile?
    ) async throws(RegistryError) -> TimestampFile? { try await writer.publish(rule) }

    package func lease(_ digests: [Digest], until: UnixTime) async throws(RegistryError) -> [Digest] {
        try await writer.lease(digests, until: until)
    }

    package func recordBlob(
        _ digest: Digest,
        length: UInt64,
        lease: UnixTime,
        now: UnixTime
    ) async throws(RegistryError) {
        try await writer.recordBlob(digest, length: length, lease: lease, now: now)
    }

    package func recordBlockProof(_ proof: BlockProof) async throws(RegistryError) {
        try await writer.recordBlockProof(proof)
    }

    package func recordToken(_ token: Token, digest: Digest, now: UnixTime) async throws(RegistryError) {
        try await writer.recordToken(token, digest: digest, now: now)
    }

    package func revokeTokens(
        _ choice: TokenChoice,
        now: UnixTime
    ) async throws(RegistryError) -> [IssuedToken] {
        try await writer.revokeTokens(choice, now: now)
    }

    package func recordExpectation(_ expectation: RegisteredExpectation) async throws(RegistryError) {
        try await writer.recordExpectation(expectation)
    }

    package func removeExpectation(
        of app: AppName,
        for model: ModelName,
        by label: String,
        now: UnixTime
    ) async throws(RegistryError) -> Bool {
        try await writer.removeExpectation(of: app, for: model, by: label, now: now)
    }

    package func recordEvent(_ event: RegistryEvent) async throws(RegistryError) {
        try await writer.recordEvent(event)
    }

    // MARK: Reads

    package func timestamp() throws(RegistryError) -> TimestampFile? {
        try readers.read { database throws(RegistryError) in try database.timestamp() }
    }

    package func file(_ role: String, version: Int64) throws(RegistryError) -> RoleFile? {
        try readers.read { database throws(RegistryError) in
            try database.publishedFile(role, version: version)
        }
    }

    package func newest(_ role: String) throws(RegistryError) -> RoleFile? {
        try readers.read { database throws(RegistryError) in try database.newestPublished(role) }
    }

    package func document(_ path: String, _ digest: Digest) throws(RegistryError) -> TargetDocument? {
        try readers.read { database throws(RegistryError) in try database.publishedDocument(path, digest) }
    }

    package func publishedVersions() throws(RegistryError) -> [PublishedVersion] {
        try readers.read { database throws(RegistryError) in try database.publishedVersions() }
    }

    package func read<Answer: Sendable>(
        _ body: @Sendable (any RegistryView) throws(RegistryError) -> Answer
    ) throws(RegistryError) -> Answer {
        try readers.read { database throws(RegistryError) in
            try database.read { () throws(RegistryError) in try body(database) }
        }
    }

    /// What SQLite finds wrong in the whole file; nothing when all is well.
    package func integrityProblems() throws(RegistryError) -> [String] {
        try readers.read { database throws(RegistryError) in
            try database.query { () throws(SQLiteError) in try database.connection.integrityProblems() }
        }
    }

    /// Whether the file was deleted, moved or replaced while it is open here.
    package var isGone: Bool {
        (try? readers.read { database throws(RegistryError) in database.connection.hasMoved() }) ?? true
    }

    package func blobLength(_ digest: Digest) throws(RegistryError) -> UInt64? {
        try readers.read { database throws(RegistryError) in try database.blobLength(digest) }
    }

    package func someBlob() throws(RegistryError) -> Digest? {
        try readers.read { database throws(RegistryError) in try database.someBlob() }
    }

    package func token(digest: Digest) throws(RegistryError) -> Token? {
        try readers.read { database throws(RegistryError) in try database.token(digest) }
    }

    package func owners() throws(RegistryError) -> [String: OwnerName] {
        try readers.read { database throws(RegistryError) in try database.owners() }
    }

    package func tokens() throws(RegistryError) -> [IssuedToken] {
        try readers.read { database throws(RegistryError) in try database.tokens() }
    }

    package func expectations(of model: ModelName?) throws(RegistryError) -> [RegisteredExpectation] {
        try readers.read { database throws(RegistryError) in
            guard let model else { return try database.allExpectations() }
            return try database.expectations(of: model)
        }
    }

    package func logRows(from index: Int64, limit: Int) throws(RegistryError) -> [LogRow] {
        try readers.read { database throws(RegistryError) in try database.logRows(from: index, limit: limit) }
    }

    package func counts() throws(RegistryError) -> RegistryCounts {
        try readers.read { database throws(RegistryError) in try database.counts() }
    }
}
