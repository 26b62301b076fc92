import Durable
import Names
import Registry
import RegistryStoreSQLite
import SQLiteKit
import Support
import Testing

@Suite("The database of a registry")
struct StoreTests {
    private static let start = TestRegistry.start

    /// Statements that would change history; each must fail, and change nothing.
    static let forbidden: [String] =
        [
            "metadata_file", "timestamp_file", "target_file", "model_version", "log_entry", "event",
        ].flatMap { table in
            ["DELETE FROM \(table)", "INSERT OR REPLACE INTO \(table) SELECT * FROM \(table) LIMIT 1"]
        } + [
            "UPDATE metadata_file SET bytes = x'00'", "UPDATE OR REPLACE metadata_file SET version = 1",
            "UPDATE timestamp_file SET snapshot = 1", "UPDATE target_file SET bytes = x'00'",
            "UPDATE model_version SET manifest = zeroblob(32)", "UPDATE log_entry SET entry = x'00'",
            "UPDATE event SET detail = ''",
            "INSERT INTO metadata_file VALUES ('root', 3, x'00', zeroblob(32), 9, 0)",
            "INSERT INTO timestamp_file VALUES (3, 1, x'00', zeroblob(32), 0)",
            "INSERT INTO timestamp_file VALUES (4, 2, x'00', zeroblob(32), 0)",
            "INSERT INTO log_entry VALUES (99, x'00', zeroblob(32), 'root', 1, 1)",
            "INSERT INTO event VALUES (99, 0, '', '', '')",
        ]

    @Test("history cannot be changed, whatever the statement and the pragmas", arguments: forbidden)
    func appendOnly(sql: String) async throws {
        let test = try await TestRegistry()
        _ = try await test.publishFirst()
        let before = try test.state()
        let connection = try Connection(path: test.scratch.path("registry.sqlite"), mode: .readWrite)
        try connection.run(script: "PRAGMA recursive_triggers = OFF")
        let error = #expect(throws: SQLiteError.self) { try connection.run(script: sql) }
        #expect(error?.isConstraint == true)
        #expect(try test.state() == before)
    }

    @Test("a path without a database is refused and stays without one")
    func missing() throws {
        let scratch = Scratch()
        let path = scratch.path("registry.sqlite")
        #expect(throws: StoreError.missing(path: path)) {
            try SQLiteRegistryStore.open(path: path, now: Self.start)
        }
        #expect(try Durable.kind(of: path) == nil)
    }

    @Test("a new database is not made over a file")
    func exists() throws {
        let scratch = Scratch()
        let path = try scratch.write("registry.sqlite", [1, 2, 3])
        #expect(throws: StoreError.exists(path: path)) {
            try SQLiteRegistryStore.create(path: path, now: Self.start)
        }
        #expect(try scratch.read("registry.sqlite") == [1, 2, 3])
    }

    @Test("a file of another kind is refused")
    func foreign() throws {
        let scratch = Scratch()
        let path = try scratch.write(
            "registry.sqlite",
            Array("not a database, but long enough to be read".utf8)
        )
        let error = #expect(throws: StoreError.self) {
            try SQLiteRegistryStore.open(path: path, now: Self.start)
        }
        guard case .foreign = error else {
            Issue.record("expected .foreign, found \(String(describing: error))")
            return
        }
    }

    @Test("a database of another program is refused and left alone")
    func otherProgram() throws {
        let scratch = Scratch()
        let path = scratch.path("registry.sqlite")
        do {
            let connection = try Connection(path: path, mode: .create)
            try connection.run(script: "CREATE TABLE note (text TEXT)")
        }
        let before = try scratch.read("registry.sqlite")
        let error = #expect(throws: StoreError.self) {
            try SQLiteRegistryStore.open(path: path, now: Self.start)
        }
        guard case .foreign = error else {
            Issue.record("expected .foreign, found \(String(describing: error))")
            return
        }
        #expect(try scratch.read("registry.sqlite") == before)
    }

    @Test("an empty store is no registry yet")
    func empty() throws {
        let scratch = Scratch()
        let store = try SQLiteRegistryStore.create(path: scratch.path("registry.sqlite"), now: Self.start)
        #expect(try store.timestamp() == nil)
        #expect(try store.counts().committed == 0)
    }
}

@Suite("Migrations")
struct MigrationTests {
    private static let start = TestRegistry.start
    private static let known = embeddedMigrations.count
    private static let following = EmbeddedMigration(
        number: known + 1,
        name: "9999_note",
        sql: "CREATE TABLE note (text TEXT NOT NULL) STRICT;"
    )

    private func path(_ test: TestRegistry) -> String { test.scratch.path("registry.sqlite") }

    @Test("the numbers in the program run from 1 without gaps")
    func numbers() {
        #expect(embeddedMigrations.map(\.number) == Array(1...embeddedMigrations.count))
        #expect(embeddedMigrations.first?.name == "0001_registry")
    }

    @Test("a database newer than the program is refused, and says so")
    func newer() async throws {
        let test = try await TestRegistry()
        _ = try SQLiteRegistryStore.open(
            path: path(test),
            migrations: embeddedMigrations + [Self.following],
            now: Self.start
        )
        let error = #expect(throws: StoreError.self) {
            try SQLiteRegistryStore.open(path: path(test), now: Self.start)
        }
        #expect(error == .newer(path: path(test), found: Self.known + 1, known: Self.known))
        #expect(error?.description.contains("newer than the program") == true)
    }

    @Test("a database made by a migration that was edited since is refused")
    func edited() async throws {
        let test = try await TestRegistry()
        let first = try #require(embeddedMigrations.first)
        let edited = EmbeddedMigration(number: 1, name: first.name, sql: first.sql + "-- edited\n")
        #expect(throws: StoreError.edited(path: path(test), migration: "0001_registry")) {
            try SQLiteRegistryStore.open(
                path: path(test),
                migrations: [edited] + embeddedMigrations.dropFirst(),
                now: Self.start
            )
        }
    }

    @Test("an older database is brought up to date after a backup that opens by itself")
    func backup() async throws {
        let test = try await TestRegistry()
        let before = try test.state()
        let upgraded = try SQLiteRegistryStore.open(
            path: path(test),
            migrations: embeddedMigrations + [Self.following],
            now: Self.start
        )
        #expect(try upgraded.counts() == before.counts)
        let backup = try SQLiteRegistryStore.open(path: path(test) + ".before-9999_note", now: Self.start)
        #expect(try backup.logRows(from: 0, limit: 10) == before.log)
        #expect(try Durable.kind(of: path(test) + ".before-9999_note.partial") == nil)
    }

    @Test("what opening would change is told without changing it")
    func pending() async throws {
        let test = try await TestRegistry()
        #expect(try SQLiteRegistryStore.pendingMigrations(path: path(test)) == [])
        let pending = try SQLiteRegistryStore.pendingMigrations(
            path: path(test),
            migrations: embeddedMigrations + [Self.following]
        )
        #expect(pending == [Self.following.name])
        let connection = try Connection(path: path(test), mode: .readOnly)
        #expect(try connection.userVersion() == Self.known)
        #expect(throws: StoreError.missing(path: "nowhere.db")) {
            try SQLiteRegistryStore.pendingMigrations(path: "nowhere.db")
        }
    }

    @Test("a migration that fails leaves the database as it was")
    func failing() async throws {
        let test = try await TestRegistry()
        let before = try test.state()
        let failing = EmbeddedMigration(
            number: Self.known + 1,
            name: "9999_failing",
            sql: "CREATE TABLE note (text TEXT) STRICT; INSERT INTO nowhere VALUES (1);"
        )
        let error = #expect(throws: StoreError.self) {
            try SQLiteRegistryStore.open(
                path: path(test),
                migrations: embeddedMigrations + [failing],
                now: Self.start
            )
        }
        guard case .failed = error else {
            Issue.record("expected .failed, found \(String(describing: error))")
            return
        }
        let connection = try Connection(path: path(test), mode: .readOnly)
        #expect(try connection.userVersion() == Self.known)
        #expect(try connection.first("SELECT 1 FROM sqlite_schema WHERE name = 'note'") { _ in 1 } == nil)
        #expect(try test.state() == before)
    }

    @Test("opening again changes nothing")
    func again() async throws {
        let test = try await TestRegistry()
        let before = try test.state()
        let reopened = try test.reopened()
        #expect(try reopened.store.counts() == before.counts)
        #expect(try test.state() == before)
    }
}
