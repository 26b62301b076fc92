import SQLiteKit
import Support
import Testing

@Suite("SQLite connections")
struct ConnectionTests {
    private let scratch = Scratch()

    private func opened(_ mode: OpenMode = .create) throws -> Connection {
        let connection = try Connection(path: scratch.path("test.db"), mode: mode)
        if case .create = mode {
            try connection.execute(
                "CREATE TABLE IF NOT EXISTS item(key INTEGER PRIMARY KEY, value ANY) STRICT"
            )
        }
        return connection
    }

    @Test(
        "a value comes back as it went in",
        arguments: [
            SQLValue.integer(.min), .integer(.max), .text(""), .text("a\u{0}b"), .text("é ～ 😀"),
            .text("'; DROP TABLE item; --"), .blob([]), .blob([0, 255, 0]), .real(0.5), .null,
        ]
    )
    func roundTrip(value: SQLValue) throws {
        let connection = try opened()
        try connection.execute("INSERT INTO item VALUES(1, ?)", value)
        let found = try connection.first("SELECT value FROM item") { row throws(SQLiteError) -> SQLValue in
            switch value {
            case .null: try row.optionalBlob(0).map { .blob($0) } ?? .null
            case .integer: .integer(try row.integer(0))
            case .real: .real(try row.real(0))
            case .text: .text(try row.text(0))
            case .blob: .blob(try row.blob(0))
            }
        }
        #expect(found == value)
    }

    @Test("NULL or another type where a value must be is an error that names the column")
    func unexpectedValue() throws {
        let connection = try opened()
        for value in [SQLValue.null, .text("1"), .real(1)] {
            try connection.execute("INSERT OR REPLACE INTO item VALUES(1, ?)", value)
            let error = #expect(throws: SQLiteError.self) {
                try connection.first("SELECT value FROM item") { row throws(SQLiteError) in try row.integer(0)
                }
            }
            #expect(error?.isUnexpectedValue == true)
            #expect(error?.message.contains("column value") == true)
        }
        try connection.execute("INSERT OR REPLACE INTO item VALUES(1, ?)", .integer(-1))
        for reading in [Reading.unsigned, .flag, .text, .blob] {
            let error = #expect(throws: SQLiteError.self) {
                try connection.first("SELECT value FROM item") { row throws(SQLiteError) in
                    try reading.read(row)
                }
            }
            #expect(error?.isUnexpectedValue == true)
        }
    }

    private enum Reading {
        case unsigned, flag, text, blob

        func read(_ row: borrowing Row) throws(SQLiteError) {
            switch self {
            case .unsigned: _ = try row.unsigned(0)
            case .flag: _ = try row.flag(0)
            case .text: _ = try row.text(0)
            case .blob: _ = try row.blob(0)
            }
        }
    }

    @Test("text in a file that is not UTF-8 is an error")
    func badText() throws {
        let connection = try opened()
        try connection.execute("INSERT INTO item VALUES(1, CAST(x'ff41' AS TEXT))")
        #expect(throws: SQLiteError.self) {
            try connection.first("SELECT value FROM item") { row throws(SQLiteError) in try row.text(0) }
        }
    }

    @Test("the number of changed rows is this statement's own")
    func changes() throws {
        let connection = try opened()
        #expect(try connection.execute("INSERT INTO item VALUES(1, 1), (2, 2)") == 2)
        #expect(try connection.execute("SELECT * FROM item") == 0)
        #expect(try connection.execute("DELETE FROM item WHERE key > ?", .integer(5)) == 0)
        #expect(connection.lastInsertedRow == 2)
    }

    @Test("a query may run inside the decoding of the same query")
    func nested() throws {
        let connection = try opened()
        try connection.execute("INSERT INTO item VALUES(1, 2), (2, 0)")
        func chain(_ key: Int64) throws(SQLiteError) -> Int64 {
            try connection.first("SELECT value FROM item WHERE key = ?", .integer(key)) {
                row throws(SQLiteError) in
                let next = try row.integer(0)
                return next == 0 ? key : try chain(next)
            } ?? -1
        }
        #expect(try chain(1) == 2)
        #expect(try chain(1) == 2)
    }

    @Test("every connection keeps the house rules, which SQLite does not store")
    func pragmas() throws {
        let connection = try opened()
        func number(_ sql: StaticString) throws -> Int64? {
            try connection.first(sql) { row throws(SQLiteError) in try row.integer(0) }
        }
        #expect(try number("PRAGMA foreign_keys") == 1)
        #expect(try number("PRAGMA synchronous") == 2)
        #expect(try number("PRAGMA trusted_schema") == 0)
        #expect(try number("PRAGMA cell_size_check") == 1)
        #expect(try number("PRAGMA recursive_triggers") == 1)
        #expect(try number("PRAGMA busy_timeout") == 5_000)
        // DEFENSIVE: the schema cannot be edited behind SQLite's back.
        #expect(throws: SQLiteError.self) {
            try connection.run(script: "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'x'")
        }
        // A misspelt column is an error and not the text of its name.
        #expect(throws: SQLiteError.self) { try connection.execute("SELECT \"nothing\" FROM item") }
    }

    @Test("an append-only table stays so, also under REPLACE")
    func appendOnly() throws {
        let connection = try opened()
        try connection.run(
            script: """
                CREATE TABLE event(seq INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
                CREATE TRIGGER event_delete BEFORE DELETE ON event
                BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
                """
        )
        try connection.execute("INSERT INTO event VALUES(1, 'a')")
        let error = #expect(throws: SQLiteError.self) {
            try connection.execute("INSERT OR REPLACE INTO event VALUES(1, 'b')")
        }
        #expect(error?.isConstraint == true)
        #expect(error?.isDuplicate == false)
        #expect(error?.message == "event is append-only")
    }

    @Test("errors say what kind they are, and never a bound value")
    func kinds() throws {
        let connection = try opened()
        try connection.execute("INSERT INTO item VALUES(1, ?)", .text("secret"))
        let error = #expect(throws: SQLiteError.self) {
            try connection.execute("INSERT INTO item VALUES(1, ?)", .text("secret"))
        }
        #expect(error?.isConstraint == true)
        #expect(error?.isDuplicate == true)
        #expect(error?.isBusy == false)
        #expect(error?.description.contains("INSERT INTO item") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("a store is never made by a mistyped path, and a read-only one never written")
    func modes() throws {
        for mode in [OpenMode.readWrite, .readOnly] {
            let error = #expect(throws: SQLiteError.self) {
                _ = try Connection(path: scratch.path("absent.db"), mode: mode)
            }
            #expect(error?.isUnopenable == true)
        }
        do { _ = try opened() }
        let reader = try opened(.readOnly)
        #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO item VALUES(1, 1)") }
    }

    @Test("a file that is no database is found when it is opened")
    func noDatabase() throws {
        let path = try scratch.write("noise.db", [UInt8](repeating: 0x41, count: 8_192))
        let error = #expect(throws: SQLiteError.self) { _ = try Connection(path: path, mode: .readWrite) }
        #expect(error?.isCorrupt == true)
    }
}
