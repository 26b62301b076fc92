import CSQLite

extension Connection {
    /// Runs `body` in a transaction that may write; any error rolls all of it back.
    ///
    /// It takes the write lock at once. A transaction that first reads and
    /// then asks for the lock fails as soon as another wrote in between, and
    /// no time-out helps it (SQLITE_BUSY_SNAPSHOT).
    ///
    /// - Throws: What `body` throws, or `SQLiteError.isBusy` before `body` runs.
    @discardableResult
    package borrowing func transaction<Success, Failure: Error>(
        _ body: (borrowing Connection) throws(Failure) -> Success,
        failing translate: (SQLiteError) -> Failure
    ) throws(Failure) -> Success {
        try run("BEGIN IMMEDIATE", body, translate)
    }

    /// Runs `body` in a transaction that may write; any error rolls all of it back.
    @discardableResult
    package borrowing func transaction<Success>(
        _ body: (borrowing Connection) throws(SQLiteError) -> Success
    ) throws(SQLiteError) -> Success {
        try run("BEGIN IMMEDIATE", body) { $0 }
    }

    /// Runs `body` on one unchanging view of the database.
    package borrowing func readTransaction<Success>(
        _ body: (borrowing Connection) throws(SQLiteError) -> Success
    ) throws(SQLiteError) -> Success {
        try run("BEGIN", body) { $0 }
    }

    /// - Precondition: No transaction is open here.
    private borrowing func run<Success, Failure: Error>(
        _ begin: StaticString,
        _ body: (borrowing Connection) throws(Failure) -> Success,
        _ translate: (SQLiteError) -> Failure
    ) throws(Failure) -> Success {
        precondition(sqlite3_get_autocommit(handle) != 0, "a transaction inside a transaction")
        try command(begin, translate)
        do throws(Failure) {
            let success = try body(self)
            try command("COMMIT", translate)
            return success
        } catch {
            // After some errors, such as a full disk, SQLite has rolled back by itself.
            if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    private borrowing func command<Failure: Error>(
        _ sql: StaticString,
        _ translate: (SQLiteError) -> Failure
    ) throws(Failure) {
        do throws(SQLiteError) {
            try execute(sql)
        } catch {
            throw translate(error)
        }
    }
}
