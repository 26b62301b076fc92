import CSQLite

/// What the owner of a database file does to it as a whole.
extension Connection {
    /// The number that migrations count up in the file's header.
    package borrowing func userVersion() throws(SQLiteError) -> Int32 {
        try headerNumber("PRAGMA user_version")
    }

    /// Sets the number; inside a transaction, together with the rest of it.
    package borrowing func setUserVersion(_ version: Int32) throws(SQLiteError) {
        try executeUnprepared("PRAGMA user_version = \(version)")
    }

    /// The number that says whose file this is; 0 in a new one.
    package borrowing func applicationID() throws(SQLiteError) -> Int32 {
        try headerNumber("PRAGMA application_id")
    }

    /// Marks the file as ours.
    package borrowing func setApplicationID(_ number: Int32) throws(SQLiteError) {
        try executeUnprepared("PRAGMA application_id = \(number)")
    }

    /// Keeps changes in a log beside the file, so that readers and the writer do not wait for each other.
    ///
    /// - Throws: `SQLiteError` when the file system cannot; never left in another mode silently.
    package borrowing func useWriteAheadLog() throws(SQLiteError) {
        let mode = try first("PRAGMA journal_mode = WAL") { row throws(SQLiteError) in try row.text(0) }
        guard mode == "wal" else {
            throw SQLiteError(
                code: SQLITE_ERROR,
                message: "the journal mode stays \(mode ?? "unknown"), not wal"
            )
        }
    }

    /// Moves the log into the file and empties it; readers that hold it up are left alone.
    package borrowing func checkpoint() throws(SQLiteError) {
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Runs a script of several statements, such as a migration.
    ///
    /// - Parameter script: Part of the program, never text from outside.
    /// - Throws: The first statement's error; what ran before it stays unless a transaction takes it back.
    package borrowing func run(script: String) throws(SQLiteError) { try executeUnprepared(script) }

    /// Writes a consistent copy while others go on reading and writing.
    ///
    /// The copy is compact and not in WAL mode. Whether it has reached the disk
    /// is not promised: write it under a temporary name, synchronize it, check
    /// it, then rename it.
    ///
    /// - Parameter path: A file that is not there or is empty.
    /// - Throws: `SQLiteError`, also when the file is there; `isFull` when the disk is.
    package borrowing func backUp(to path: String) throws(SQLiteError) {
        try execute("VACUUM INTO ?", .text(path))
    }

    /// What SQLite finds wrong in the file, at most a hundred lines.
    ///
    /// - Returns: An empty list when all is well.
    /// - Throws: `SQLiteError` when the damage is so great that it cannot even be listed.
    package borrowing func integrityProblems() throws(SQLiteError) -> [String] {
        let found = try rows("PRAGMA integrity_check(100)") { row throws(SQLiteError) in try row.text(0) }
        let orphans = try rows("PRAGMA foreign_key_check") { row throws(SQLiteError) in
            "a row of \(try row.text(0)) refers to a row of \(try row.text(2)) that is not there"
        }
        return found.filter { $0 != "ok" } + orphans
    }

    /// Whether the file at the database's path is no longer the one that is open: deleted, renamed or replaced.
    package borrowing func hasMoved() -> Bool {
        var moved: Int32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return moved != 0
    }

    private borrowing func headerNumber(_ sql: StaticString) throws(SQLiteError) -> Int32 {
        let number = try first(sql) { row throws(SQLiteError) in try row.integer(0) }
        return Int32(truncatingIfNeeded: number ?? 0)
    }

    private borrowing func executeUnprepared(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, handle: handle, sql: sql) }
    }
}
