import Durable
import Glibc
import Names
import SQLiteKit

/// Brings a database to the schema of this program, and refuses what it cannot know.
///
/// The number of the last applied migration stands in `user_version`, name and
/// digest of each in `schema_migration`. A database made by a later program is
/// refused, since what it means cannot be known here; so is one made by a
/// migration whose text differs, since then the same number means two schemas.
struct Schema {
    /// "SEAL"; `0001_registry` writes it.
    static let applicationID: Int32 = 0x5345_414C

    let path: String
    let migrations: [EmbeddedMigration]

    /// - Returns: What was applied; a backup was made first if there was something to lose.
    func bringUp(
        _ connection: borrowing Connection,
        now: UnixTime
    ) throws(StoreError) -> [EmbeddedMigration] {
        let pending = try pending(connection)
        guard let first = pending.first else { return [] }
        if first.number > 1 { try backUp(connection, before: first) }
        for migration in pending { try apply(migration, connection, now: now) }
        return pending
    }

    /// - Returns: What ``bringUp(_:now:)`` would apply; reads only.
    func pending(_ connection: borrowing Connection) throws(StoreError) -> [EmbeddedMigration] {
        Array(migrations.dropFirst(try check(connection)))
    }

    /// - Returns: How many migrations the database has.
    private func check(_ connection: borrowing Connection) throws(StoreError) -> Int {
        let version = try translating { () throws(SQLiteError) in Int(try connection.userVersion()) }
        let owner = try translating { () throws(SQLiteError) in try connection.applicationID() }
        if version == 0 {
            let objects = try translating { () throws(SQLiteError) in
                try connection.first("SELECT count(*) FROM sqlite_schema") { row throws(SQLiteError) in
                    try row.integer(0)
                }
            }
            guard owner == 0, objects == 0 else {
                throw .foreign(path: path, reason: "it has tables of another program")
            }
            return 0
        }
        guard owner == Self.applicationID else {
            throw .foreign(path: path, reason: "its application id is \(owner), not \(Self.applicationID)")
        }
        guard version <= migrations.count else {
            throw .newer(path: path, found: version, known: migrations.count)
        }
        try checkRecorded(connection, upTo: version)
        return version
    }

    private func checkRecorded(_ connection: borrowing Connection, upTo version: Int) throws(StoreError) {
        let recorded = try translating { () throws(SQLiteError) in
            try connection.rows("SELECT name, sha256 FROM schema_migration ORDER BY number") {
                row throws(SQLiteError) in
                (name: try row.text(0), sha256: try row.blob(1))
            }
        }
        guard recorded.count == version else {
            throw .foreign(
                path: path,
                reason: "it records \(recorded.count) migrations, its header says \(version)"
            )
        }
        for (known, found) in zip(migrations, recorded) {
            guard known.name == found.name, known.sha256.bytes == found.sha256 else {
                throw .edited(path: path, migration: found.name)
            }
        }
    }

    /// One transaction: the change, its record and the number, or none of them.
    private func apply(
        _ migration: EmbeddedMigration,
        _ connection: borrowing Connection,
        now: UnixTime
    ) throws(StoreError) {
        let path = path
        try connection.transaction { connection throws(StoreError) in
            let problems = try translating { () throws(SQLiteError) in
                // Another process may have been quicker.
                guard Int(try connection.userVersion()) == migration.number - 1 else { return [String]() }
                try connection.run(script: migration.sql)
                try connection.execute(
                    "INSERT INTO schema_migration (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)",
                    .integer(Int64(migration.number)),
                    .text(migration.name),
                    .blob(migration.sha256.bytes),
                    .integer(now.rawValue)
                )
                try connection.setUserVersion(Int32(migration.number))
                return try connection.integrityProblems()
            }
            guard problems.isEmpty else { throw .damaged(path: path, problems: problems) }
        } failing: { error in
            .failed(path: path, reason: "\(error)")
        }
    }

    /// A copy beside the database, complete or not there.
    private func backUp(
        _ connection: borrowing Connection,
        before migration: EmbeddedMigration
    ) throws(StoreError) {
        let backup = "\(path).before-\(migration.name)"
        let partial = "\(backup).partial"
        do {
            try Durable.removeTree(partial)
            try connection.backUp(to: partial)
            let descriptor = try Durable.openForReading(partial)
            defer { close(descriptor) }
            try Durable.synchronize(descriptor, partial)
            try Durable.rename(partial, to: backup)
        } catch {
            throw .failed(path: backup, reason: "the backup before a migration failed: \(error)")
        }
    }

    private func translating<Success>(
        _ body: () throws(SQLiteError) -> Success
    ) throws(StoreError) -> Success {
        do throws(SQLiteError) {
            return try body()
        } catch {
            guard !error.isCorrupt else { throw .foreign(path: path, reason: error.message) }
            throw .failed(path: path, reason: "\(error)")
        }
    }
}
