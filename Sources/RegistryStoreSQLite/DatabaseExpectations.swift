import Names
import Registry
import SQLiteKit

/// What apps registered; the one table besides blobs, leases and tokens in which rows are replaced.
extension Database {
    func expectations(of model: ModelName) throws(RegistryError) -> [RegisteredExpectation] {
        try query { () throws(SQLiteError) in
            try connection.rows(
                """
                SELECT model, app, document, registered_by, registered_at FROM expectation
                WHERE model = ? ORDER BY app
                """,
                .text(model.description)
            ) { row throws(SQLiteError) in try expectation(row) }
        }
        .compactMap(\.self)
    }

    func allExpectations() throws(RegistryError) -> [RegisteredExpectation] {
        try query { () throws(SQLiteError) in
            try connection.rows(
                """
                SELECT model, app, document, registered_by, registered_at FROM expectation
                ORDER BY model, app
                """
            ) { row throws(SQLiteError) in try expectation(row) }
        }
        .compactMap(\.self)
    }

    func insert(_ expectation: RegisteredExpectation) throws(RegistryError) {
        try query { () throws(SQLiteError) in
            try connection.execute(
                """
                INSERT INTO expectation (model, app, document, registered_by, registered_at)
                VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (model, app) DO UPDATE SET document = excluded.document,
                registered_by = excluded.registered_by, registered_at = excluded.registered_at
                """,
                .text(expectation.model.description),
                .text(expectation.app.description),
                .blob(expectation.document),
                .text(expectation.registeredBy),
                .integer(expectation.registeredAt.rawValue)
            )
        }
    }

    func removeExpectation(of app: AppName, for model: ModelName) throws(RegistryError) -> Bool {
        try query { () throws(SQLiteError) in
            try connection.execute(
                "DELETE FROM expectation WHERE model = ? AND app = ?",
                .text(model.description),
                .text(app.description)
            ) > 0
        }
    }

    /// - Returns: `nil` for a row whose names this program does not take; it is advice, and skipped.
    private func expectation(_ row: borrowing Row) throws(SQLiteError) -> RegisteredExpectation? {
        guard let model = ModelName(try row.text(0)), let app = AppName(try row.text(1)) else { return nil }
        return RegisteredExpectation(
            app: app,
            model: model,
            document: try row.blob(2),
            registeredBy: try row.text(3),
            registeredAt: try row.time(4)
        )
    }
}
