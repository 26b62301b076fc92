import Names
import Registry
import SQLiteKit

/// The registry's tables behind one connection.
///
/// Not `Sendable`: it belongs to the writing actor, or to one reader at a time.
/// Which methods see what: those of ``RegistryView`` what is committed, those
/// called `published…` only what the newest timestamp shows.
final class Database {
    let connection: Connection

    init(path: String, mode: OpenMode) throws(SQLiteError) {
        connection = try Connection(path: path, mode: mode)
    }

    /// One decision: `body` reads, decides and writes, and no other decision falls between.
    func decide<Success>(
        _ body: () throws(RegistryError) -> Success
    ) throws(RegistryError) -> Success {
        // SQLite would go on writing into a file that nobody can open any more.
        guard !connection.hasMoved() else {
            throw .storage(
                reason: "the database file was deleted, moved or replaced under the running registry; "
                    + "stop it, put the file back, and start it again"
            )
        }
        return try connection.transaction { _ throws(RegistryError) in
            try body()
        } failing: { error in
            RegistryError(error)
        }
    }

    /// One view of the database for several reads.
    func read<Success>(_ body: () throws(RegistryError) -> Success) throws(RegistryError) -> Success {
        try query { () throws(SQLiteError) in
            try connection.readTransaction { _ in
                do throws(RegistryError) { return Result<Success, RegistryError>.success(try body()) } catch {
                    return .failure(error)
                }
            }
        }.get()
    }

    @discardableResult
    func query<Success>(_ body: () throws(SQLiteError) -> Success) throws(RegistryError) -> Success {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw RegistryError(error)
        }
    }

    func file(_ role: String, _ row: borrowing Row) throws(SQLiteError) -> RoleFile {
        RoleFile(
            role: role,
            version: try row.integer(0),
            bytes: try row.blob(1),
            sha256: try row.digest(2)
        )
    }
}

extension RegistryError {
    init(_ error: SQLiteError) {
        self =
            error.isUnexpectedValue || error.isCorrupt
            ? .damaged(what: "the database", reason: "\(error)") : .storage(reason: "\(error)")
    }
}

extension Row {
    borrowing func digest(_ column: Int32) throws(SQLiteError) -> Digest {
        guard let digest = Digest(bytes: try blob(column)) else {
            throw SQLiteError(code: 20, message: "column \(column) holds no SHA-256 digest")
        }
        return digest
    }

    borrowing func time(_ column: Int32) throws(SQLiteError) -> UnixTime {
        UnixTime(rawValue: try integer(column))
    }
}
