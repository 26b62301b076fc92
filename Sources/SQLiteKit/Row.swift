import CSQLite

/// The current row, on loan.
///
/// Columns count from 0. A reader names the type it wants, and a column that
/// holds another one, or NULL where a value must be, is an error
/// (`SQLiteError.isUnexpectedValue`): SQLite itself would hand out 0 or an
/// empty text, and a missing digest would look like an empty one.
package struct Row: ~Copyable {
    // Only a pointer: with a stored String in it, specializing `rows(decode:)` crashes the optimizer of Swift 6.3.1.
    private let handle: OpaquePointer

    init(statement: Statement) { handle = statement.handle }

    package borrowing func integer(_ column: Int32) throws(SQLiteError) -> Int64 {
        guard let number = try optionalInteger(column) else { throw unexpected(column, "an integer") }
        return number
    }

    /// A number that cannot be negative, such as a length.
    package borrowing func unsigned(_ column: Int32) throws(SQLiteError) -> UInt64 {
        guard let number = UInt64(exactly: try integer(column)) else {
            throw unexpected(column, "an integer of at least 0")
        }
        return number
    }

    /// 0 or 1.
    package borrowing func flag(_ column: Int32) throws(SQLiteError) -> Bool {
        switch try integer(column) {
        case 0: false
        case 1: true
        default: throw unexpected(column, "0 or 1")
        }
    }

    package borrowing func real(_ column: Int32) throws(SQLiteError) -> Double {
        guard type(column) == SQLITE_FLOAT else { throw unexpected(column, "a real number") }
        return sqlite3_column_double(handle, column)
    }

    package borrowing func text(_ column: Int32) throws(SQLiteError) -> String {
        guard let text = try optionalText(column) else { throw unexpected(column, "text") }
        return text
    }

    package borrowing func blob(_ column: Int32) throws(SQLiteError) -> [UInt8] {
        guard let bytes = try optionalBlob(column) else { throw unexpected(column, "a blob") }
        return bytes
    }

    /// `nil` for NULL.
    package borrowing func optionalInteger(_ column: Int32) throws(SQLiteError) -> Int64? {
        switch type(column) {
        case SQLITE_NULL: nil
        case SQLITE_INTEGER: sqlite3_column_int64(handle, column)
        default: throw unexpected(column, "an integer or NULL")
        }
    }

    /// `nil` for NULL.
    ///
    /// - Throws: Also for text that is not UTF-8, which a repaired copy would hide.
    package borrowing func optionalText(_ column: Int32) throws(SQLiteError) -> String? {
        switch type(column) {
        case SQLITE_NULL: return nil
        case SQLITE_TEXT:
            guard let start = sqlite3_column_text(handle, column) else {
                throw SQLiteError(code: SQLITE_NOMEM, handle: nil, sql: sql)
            }
            let count = Int(sqlite3_column_bytes(handle, column))
            guard
                let text = String(validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
            else {
                throw unexpected(column, "text in UTF-8")
            }
            return text
        default: throw unexpected(column, "text or NULL")
        }
    }

    /// `nil` for NULL.
    package borrowing func optionalBlob(_ column: Int32) throws(SQLiteError) -> [UInt8]? {
        switch type(column) {
        case SQLITE_NULL: return nil
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(handle, column)
            let count = Int(sqlite3_column_bytes(handle, column))
            guard count > 0, let start else { return [] }
            return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
        default: throw unexpected(column, "a blob or NULL")
        }
    }

    private borrowing func type(_ column: Int32) -> Int32 {
        precondition(
            column >= 0 && column < sqlite3_column_count(handle),
            "no column \(column): \(sql)"
        )
        return sqlite3_column_type(handle, column)
    }

    /// The statement's text, for messages; never the bound values.
    private var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

    private borrowing func unexpected(_ column: Int32, _ wanted: String) -> SQLiteError {
        let found =
            switch sqlite3_column_type(handle, column) {
            case SQLITE_NULL: "NULL"
            case SQLITE_INTEGER: "an integer"
            case SQLITE_FLOAT: "a real number"
            case SQLITE_TEXT: "text"
            default: "a blob"
            }
        let name = sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "\(column)"
        return SQLiteError(
            code: SQLITE_MISMATCH,
            message: "column \(name) holds \(found) where \(wanted) must be",
            sql: sql
        )
    }
}
