import SQLiteKit
import Support
import Testing

@Suite("SQLite transactions and upkeep")
struct TransactionTests {
    private let scratch = Scratch()
    private let path: String

    init() throws {
        path = scratch.path("test.db")
        let connection = try Connection(path: path, mode: .create)
        try connection.useWriteAheadLog()
        try connection.execute("CREATE TABLE item(key INTEGER PRIMARY KEY) STRICT")
    }

    private func opened(_ mode: OpenMode = .readWrite) throws -> Connection {
        try Connection(path: path, mode: mode)
    }

    private func count(_ connection: borrowing Connection) throws(SQLiteError) -> Int64? {
        try connection.first("SELECT count(*) FROM item") { row throws(SQLiteError) in try row.integer(0) }
    }

    private enum Refusal: Error, Equatable { case chosen, store }

    @Test("an error rolls everything back, and the next transaction begins clean")
    func rollback() throws {
        let connection = try opened()
        #expect(throws: SQLiteError.self) {
            try connection.transaction { connection throws(SQLiteError) in
                try connection.execute("INSERT INTO item VALUES(1)")
                try connection.execute("INSERT INTO item VALUES(1)")
            }
        }
        #expect(throws: Refusal.chosen) {
            try connection.transaction { connection throws(Refusal) in
                do { try connection.execute("INSERT INTO item VALUES(2)") } catch { throw .store }
                throw .chosen
            } failing: { _ in
                .store
            }
        }
        #expect(try count(connection) == 0)
        try connection.transaction { connection throws(SQLiteError) in
            try connection.execute("INSERT INTO item VALUES(3)")
        }
        #expect(try count(connection) == 1)
    }

    @Test("a failed commit leaves no transaction open")
    func failedCommit() throws {
        let connection = try opened()
        try connection.run(
            script: """
                CREATE TABLE child(key INTEGER REFERENCES item(key) DEFERRABLE INITIALLY DEFERRED) STRICT;
                """
        )
        let error = #expect(throws: SQLiteError.self) {
            try connection.transaction { connection throws(SQLiteError) in
                try connection.execute("INSERT INTO child VALUES(9)")
            }
        }
        #expect(error?.isConstraint == true)
        try connection.transaction { connection throws(SQLiteError) in
            try connection.execute("INSERT INTO item VALUES(9)")
            try connection.execute("INSERT INTO child VALUES(9)")
        }
        #expect(try connection.integrityProblems().isEmpty)
    }

    @Test("a second writer is told that the database is busy, before its work begins")
    func busy() throws {
        let first = try opened()
        let second = try opened()
        try second.execute("PRAGMA busy_timeout = 0")
        try first.transaction { first throws(SQLiteError) in
            try first.execute("INSERT INTO item VALUES(1)")
            var began = false
            do throws(SQLiteError) {
                try second.transaction { _ throws(SQLiteError) in began = true }
                Issue.record("two writers at once")
            } catch {
                #expect(error.isBusy)
            }
            #expect(!began)
        }
    }

    @Test("a read transaction sees one state while another connection writes")
    func snapshot() throws {
        let writer = try opened()
        let reader = try opened(.readOnly)
        try reader.readTransaction { reader throws(SQLiteError) in
            #expect(try count(reader) == 0)
            try writer.execute("INSERT INTO item VALUES(1)")
            #expect(try count(reader) == 0)
        }
        #expect(try count(reader) == 1)
    }

    @Test("a backup is whole, keeps the header numbers, and is never written over a file")
    func backup() throws {
        let connection = try opened()
        try connection.setUserVersion(7)
        try connection.setApplicationID(0x5EA1)
        try connection.execute("INSERT INTO item VALUES(1), (2)")
        try connection.backUp(to: scratch.path("copy.db"))
        let copy = try Connection(path: scratch.path("copy.db"), mode: .readOnly)
        #expect(try copy.userVersion() == 7)
        #expect(try copy.applicationID() == 0x5EA1)
        #expect(try count(copy) == 2)
        #expect(try copy.integrityProblems().isEmpty)
        #expect(throws: SQLiteError.self) { try connection.backUp(to: scratch.path("copy.db")) }
    }

    @Test("the header number is set together with the rest of the transaction, or not at all")
    func userVersion() throws {
        let connection = try opened()
        #expect(throws: SQLiteError.self) {
            try connection.transaction { connection throws(SQLiteError) in
                try connection.setUserVersion(3)
                throw SQLiteError(code: 1, message: "given up")
            }
        }
        #expect(try connection.userVersion() == 0)
    }

    @Test("damage in the file is found")
    func damage() throws {
        do {
            let connection = try opened()
            for key in 0..<5_000 {
                try connection.execute("INSERT INTO item VALUES(?)", .integer(Int64(key * 1_000_003)))
            }
            try connection.checkpoint()
        }
        var bytes = try scratch.read("test.db")
        try #require(bytes.count > 20_000)
        for index in 12_300..<12_500 { bytes[index] ^= 0x5A }
        try scratch.write("damaged.db", bytes)
        let connection = try Connection(path: scratch.path("damaged.db"), mode: .readWrite)
        do throws(SQLiteError) {
            #expect(try !connection.integrityProblems().isEmpty)
        } catch {
            #expect(error.isCorrupt)
        }
    }

    @Test("a long query ends when it is interrupted")
    func interrupt() throws {
        let connection = try opened()
        let interruption = connection.interruption
        let error = #expect(throws: SQLiteError.self) {
            try connection.rows(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
            ) { row throws(SQLiteError) in
                if try row.integer(0) == 1_000 { interruption.interrupt() }
            }
        }
        #expect(error?.isInterrupted == true)
    }
}
