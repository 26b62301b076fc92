import CSQLite

/// What SQLite said, and about which statement.
///
/// Bound values are never kept: they may be secrets, and errors get logged.
package struct SQLiteError: Error, Sendable, Equatable {
    /// The extended result code, <https://www.sqlite.org/rescode.html>.
    package let code: Int32

    package let message: String

    /// The SQL, without its values.
    package let sql: String?

    package init(code: Int32, message: String, sql: String? = nil) {
        self.code = code
        self.message = message
        self.sql = sql
    }

    /// Reads the detail from the connection whose last call has just failed.
    init(code: Int32, handle: OpaquePointer?, sql: String? = nil) {
        self.init(
            code: handle.map { sqlite3_extended_errcode($0) } ?? code,
            message: String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)),
            sql: sql
        )
    }

    /// An outage: another connection held the database for longer than the time-out.
    package var isBusy: Bool { isKind(SQLITE_BUSY) }

    /// A refusal by the schema: CHECK, UNIQUE, NOT NULL, a foreign key, or RAISE in a trigger.
    package var isConstraint: Bool { isKind(SQLITE_CONSTRAINT) }

    /// A row with the same key is there already.
    package var isDuplicate: Bool {
        // SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID, which are expressions that Swift does not import.
        isConstraint && [6, 8, 10].contains(code >> 8)
    }

    /// An outage: the disk has no room left.
    package var isFull: Bool { isKind(SQLITE_FULL) }

    /// The file is damaged, or no database at all.
    package var isCorrupt: Bool { isKind(SQLITE_CORRUPT) || isKind(SQLITE_NOTADB) }

    /// Somebody called ``Interruption/interrupt()``.
    package var isInterrupted: Bool { isKind(SQLITE_INTERRUPT) }

    /// The file is not there, or may not be opened.
    package var isUnopenable: Bool { isKind(SQLITE_CANTOPEN) }

    /// A stored value is not what its reader wants; see ``Row``.
    package var isUnexpectedValue: Bool { isKind(SQLITE_MISMATCH) }

    private func isKind(_ primary: Int32) -> Bool { code & 0xFF == primary }
}

extension SQLiteError: CustomStringConvertible {
    package var description: String { "SQLite error \(code): \(message)" + (sql.map { " in: \($0)" } ?? "") }
}
