package import Names
import Signing

/// One numbered change of the schema, its text compiled into the program.
package struct EmbeddedMigration: Sendable {
    /// 1 and upwards, without gaps.
    package let number: Int

    /// The file's name without extension, `0001_registry`.
    package let name: String
    package let sql: String

    package init(number: Int, name: String, sql: String) {
        self.number = number
        self.name = name
        self.sql = sql
    }

    /// Recorded when it is applied: a text that changed later is another migration.
    package var sha256: Digest { SHA256.digest(of: Array(sql.utf8)) }
}
