import CSQLite

/// How a database file is opened.
package enum OpenMode: Sendable {
    /// Makes the file if it is not there.
    case create

    /// A file that is not there is an error: a store is made on purpose, never by a mistyped path.
    case readWrite

    /// No statement may write, whatever it says.
    case readOnly
}

/// One open SQLite database file.
///
/// A connection is not copyable and not `Sendable`: it belongs to whoever
/// opened it, which in this product is always one actor or one thread. Closing
/// is what happens when that owner goes away.
///
/// SQL is a `StaticString`, so text from outside can only ever be a bound value.
package struct Connection: ~Copyable {
    let handle: OpaquePointer
    private let statements = StatementCache()

    /// Opens the database at `path`.
    ///
    /// - Throws: `SQLiteError`, `isUnopenable` when the file is not there or may not be opened, `isCorrupt`
    ///   when it is not a database.
    package init(path: String, mode: OpenMode) throws(SQLiteError) {
        handle = try openedHandle(path, mode)
    }

    deinit {
        statements.finalizeAll()
        sqlite3_close_v2(handle)
    }

    /// Runs one statement whose rows, if any, do not matter.
    ///
    /// - Returns: The number of rows that this statement itself changed; triggers do not count.
    @discardableResult
    package borrowing func execute(
        _ sql: StaticString,
        _ values: SQLValue...
    ) throws(SQLiteError) -> Int {
        try execute(sql, values: values)
    }

    /// As ``execute(_:_:)``, for values that are already a list.
    @discardableResult
    package borrowing func execute(
        _ sql: StaticString,
        values: [SQLValue]
    ) throws(SQLiteError) -> Int {
        let before = sqlite3_total_changes64(handle)
        try withStatement(sql, values) { statement throws(SQLiteError) in
            while try statement.step() {}
        }
        // sqlite3_changes keeps the number of the last writing statement, so a SELECT would repeat it.
        return sqlite3_total_changes64(handle) == before ? 0 : Int(sqlite3_changes64(handle))
    }

    /// Runs one query and turns each row into an `Element`.
    ///
    /// The row is lent to `decode` for one call and cannot outlive it.
    package borrowing func rows<Element>(
        _ sql: StaticString,
        _ values: SQLValue...,
        decode: (borrowing Row) throws(SQLiteError) -> Element
    ) throws(SQLiteError) -> [Element] {
        try withStatement(sql, values) { statement throws(SQLiteError) in
            var elements: [Element] = []
            while try statement.step() { elements.append(try decode(Row(statement: statement))) }
            return elements
        }
    }

    /// The first row of a query, `nil` when there is none; others are not looked at.
    package borrowing func first<Element>(
        _ sql: StaticString,
        _ values: SQLValue...,
        decode: (borrowing Row) throws(SQLiteError) -> Element
    ) throws(SQLiteError) -> Element? {
        try withStatement(sql, values) { statement throws(SQLiteError) in
            try statement.step() ? try decode(Row(statement: statement)) : nil
        }
    }

    /// The row id of the last INSERT that succeeded here.
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// What lets another thread stop a long query on this connection.
    ///
    /// - Precondition: Not used after the connection has gone.
    package var interruption: Interruption { Interruption(handle: handle) }

    /// Binds, runs `body`, and puts the statement back for the next time.
    private borrowing func withStatement<Success>(
        _ sql: StaticString,
        _ values: [SQLValue],
        _ body: (Statement) throws(SQLiteError) -> Success
    ) throws(SQLiteError) -> Success {
        let statement = try statements.take(sql, on: handle)
        defer { statements.putBack(statement) }
        try statement.bind(values)
        return try body(statement)
    }
}

/// Stops what runs on a connection.
// Sendable: sqlite3_interrupt is the one call that SQLite allows from any thread.
package struct Interruption: @unchecked Sendable {
    fileprivate let handle: OpaquePointer

    /// Makes the running statement fail with `isInterrupted`, and does nothing when none runs.
    package func interrupt() { sqlite3_interrupt(handle) }
}

/// Opens and sets up; a handle that cannot be set up is closed again.
private func openedHandle(_ path: String, _ mode: OpenMode) throws(SQLiteError) -> OpaquePointer {
    let access =
        switch mode {
        case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .readWrite: SQLITE_OPEN_READWRITE
        case .readOnly: SQLITE_OPEN_READONLY
        }
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let opened else {
        let error = SQLiteError(code: code, handle: opened)
        sqlite3_close_v2(opened)
        throw error
    }
    do throws(SQLiteError) {
        try setUp(opened, mode)
        return opened
    } catch {
        sqlite3_close_v2(opened)
        throw error
    }
}

/// The rules of every connection; SQLite keeps none of them in the file.
///
/// FULL: a log that signs a checkpoint and then loses the entries under it has
/// forked itself, so a commit must survive a power cut. Recursive triggers: else
/// `INSERT OR REPLACE` deletes a row without asking its delete trigger.
private func setUp(_ handle: OpaquePointer, _ mode: OpenMode) throws(SQLiteError) {
    let code = csqlite_defend(handle)
    guard code == SQLITE_OK else { throw SQLiteError(code: code, handle: handle) }
    var pragmas = """
        PRAGMA busy_timeout = 5000;
        PRAGMA foreign_keys = ON;
        PRAGMA synchronous = FULL;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        PRAGMA recursive_triggers = ON;
        """
    switch mode {
    case .readOnly: pragmas += "PRAGMA query_only = ON;"
    case .create, .readWrite: pragmas += "PRAGMA journal_size_limit = 67108864;"
    }
    let result = sqlite3_exec(handle, pragmas, nil, nil, nil)
    guard result == SQLITE_OK else { throw SQLiteError(code: result, handle: handle, sql: pragmas) }
    // The first read of the file: a file that is no database is found here, not in the first query.
    let read = sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nil, nil, nil)
    guard read == SQLITE_OK else { throw SQLiteError(code: read, handle: handle) }
}
