import CSQLite

/// A value SQLite can store.
package enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLValue {
    /// `nil` becomes NULL.
    package static func integer(_ number: Int64?) -> SQLValue { number.map { .integer($0) } ?? .null }

    /// `nil` becomes NULL.
    package static func text(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }

    /// `nil` becomes NULL.
    package static func blob(_ bytes: [UInt8]?) -> SQLValue { bytes.map { .blob($0) } ?? .null }
}

/// A prepared statement; the cache that made it finalizes it.
struct Statement {
    let handle: OpaquePointer
    let database: OpaquePointer
    let sql: String

    init(_ sql: String, on database: OpaquePointer) throws(SQLiteError) {
        var prepared: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        var rest: UnsafePointer<CChar>?
        var restIsEmpty = true
        let code = sql.withCString { text in
            let code = sqlite3_prepare_v3(database, text, -1, flags, &prepared, &rest)
            restIsEmpty = rest.map { $0.pointee == 0 } ?? true
            return code
        }
        guard code == SQLITE_OK else { throw SQLiteError(code: code, handle: database, sql: sql) }
        // Of several statements SQLite would run the first and be silent about the others.
        precondition(restIsEmpty, "more than one statement: \(sql)")
        guard let prepared else { preconditionFailure("no statement: \(sql)") }
        handle = prepared
        self.database = database
        self.sql = sql
    }

    /// - Precondition: One value for each `?` in the SQL.
    func bind(_ values: [SQLValue]) throws(SQLiteError) {
        precondition(
            Int(sqlite3_bind_parameter_count(handle)) == values.count,
            "wrong number of values: \(sql)"
        )
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    }

    /// - Returns: Whether there is a row to read.
    func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        case let code: throw SQLiteError(code: code, handle: database, sql: sql)
        }
    }

    /// Ends the run and forgets the values, which may be secrets.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    private func bind(_ value: SQLValue, at index: Int32) throws(SQLiteError) {
        let code =
            switch value {
            case .null: sqlite3_bind_null(handle, index)
            case .integer(let number): sqlite3_bind_int64(handle, index, number)
            case .real(let number): sqlite3_bind_double(handle, index, number)
            case .text(let text): bind(text, at: index)
            case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(handle, index, 0)
            case .blob(let bytes):
                sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), csqlite_transient())
            }
        guard code == SQLITE_OK else { throw SQLiteError(code: code, handle: database, sql: sql) }
    }

    /// By its length, so that a NUL inside does not cut it short.
    private func bind(_ text: String, at index: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            guard let start = bytes.baseAddress else {
                return sqlite3_bind_text(handle, index, "", 0, csqlite_transient())
            }
            return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                let encoding = UInt8(SQLITE_UTF8)
                return sqlite3_bind_text64(
                    handle,
                    index,
                    $0,
                    UInt64(bytes.count),
                    csqlite_transient(),
                    encoding
                )
            }
        }
    }
}

/// Prepared statements by the address of their SQL.
///
/// A `StaticString` is one place in the program for as long as it runs, so the
/// address is a cheap and sound key. A statement that is running is not in
/// here: the same SQL inside a row's `decode` gets a statement of its own.
final class StatementCache {
    private var idle: [UnsafePointer<UInt8>: Statement] = [:]
    private var keys: [OpaquePointer: UnsafePointer<UInt8>] = [:]

    func take(_ sql: StaticString, on database: OpaquePointer) throws(SQLiteError) -> Statement {
        let key = sql.utf8Start
        if let statement = idle.removeValue(forKey: key) { return statement }
        let statement = try Statement(sql.description, on: database)
        keys[statement.handle] = key
        return statement
    }

    func putBack(_ statement: Statement) {
        statement.reset()
        guard let key = keys[statement.handle], idle[key] == nil else {
            keys[statement.handle] = nil
            sqlite3_finalize(statement.handle)
            return
        }
        idle[key] = statement
    }

    func finalizeAll() {
        for statement in idle.values { sqlite3_finalize(statement.handle) }
        idle = [:]
        keys = [:]
    }
}
