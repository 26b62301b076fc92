/// One numbered change of the schema, its text compiled into the program.
package struct EmbeddedMigration: Sendable {
    /// 1 and upwards, without gaps.
    package let number: Int

    /// The file's name without extension, `0001_registry`.
    package let name: String
    package let sql: String
}
