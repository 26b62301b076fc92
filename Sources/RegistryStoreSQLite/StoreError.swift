/// Why the database of a registry could not be opened or made.
package enum StoreError: Error, Equatable, Sendable {
    /// There is nothing to open; a database is made by `init` alone.
    case missing(path: String)

    /// There is something where a new database was to be made.
    case exists(path: String)

    /// The file is not the database of a registry.
    case foreign(path: String, reason: String)

    /// A later program has changed the schema.
    case newer(path: String, found: Int, known: Int)

    /// The schema was made by a migration other than the one in this program.
    case edited(path: String, migration: String)

    /// The file does not hold together.
    case damaged(path: String, problems: [String])

    /// The system or SQLite could not do it.
    case failed(path: String, reason: String)
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let path):
            "there is no database at \(path), or it may not be read: run `sealift init`, or name the right directory"
        case .exists(let path): "there is a file at \(path) already: choose another directory"
        case .foreign(let path, let reason): "\(path) is not the database of a registry: \(reason)"
        case .newer(let path, let found, let known):
            "\(path) has schema version \(found), this program knows \(known): "
                + "the database is newer than the program; run the newer program"
        case .edited(let path, let migration):
            "\(path) was made by a migration \(migration) that differs from this program's: "
                + "run the program that made it, or restore a backup"
        case .damaged(let path, let problems):
            "\(path) is damaged (\(problems.prefix(3).joined(separator: "; "))): restore a backup"
        case .failed(let path, let reason): "\(path) cannot be opened: \(reason)"
        }
    }
}
