import Names
import Registry
import SQLiteKit

/// What devices and operators read.
extension Database {
    func publishedFile(_ role: String, version: Int64) throws(RegistryError) -> RoleFile? {
        try query { () throws(SQLiteError) in
            try connection.first(
                """
                SELECT version, bytes, sha256 FROM metadata_file WHERE role = ? AND version = ?
                AND snapshot <= (SELECT coalesce(max(snapshot), 0) FROM timestamp_file)
                """,
                .text(role),
                .integer(version)
            ) { row throws(SQLiteError) in try file(role, row) }
        }
    }

    func newestPublished(_ role: String) throws(RegistryError) -> RoleFile? {
        try query { () throws(SQLiteError) in
            try connection.first(
                """
                SELECT version, bytes, sha256 FROM metadata_file WHERE role = ?
                AND snapshot <= (SELECT coalesce(max(snapshot), 0) FROM timestamp_file)
                ORDER BY version DESC LIMIT 1
                """,
                .text(role)
            ) { row throws(SQLiteError) in try file(role, row) }
        }
    }

    func publishedDocument(_ path: String, _ digest: Digest) throws(RegistryError) -> TargetDocument? {
        try query { () throws(SQLiteError) in
            try connection.first(
                """
                SELECT bytes FROM target_file WHERE path = ? AND sha256 = ?
                AND snapshot <= (SELECT coalesce(max(snapshot), 0) FROM timestamp_file)
                """,
                .text(path),
                .blob(digest.bytes)
            ) { row throws(SQLiteError) in
                TargetDocument(path: path, sha256: digest, bytes: try row.blob(0))
            }
        }
    }

    func publishedVersions() throws(RegistryError) -> [PublishedVersion] {
        let found = try query { () throws(SQLiteError) in
            try connection.rows(
                """
                SELECT model, version, manifest FROM model_version
                WHERE snapshot <= (SELECT coalesce(max(snapshot), 0) FROM timestamp_file)
                """
            ) { row throws(SQLiteError) in (try row.text(0), try row.text(1), try row.digest(2)) }
        }
        var versions: [PublishedVersion] = []
        for (model, version, manifest) in found {
            guard let name = ModelName(model), let number = ModelVersion(version) else {
                throw .damaged(
                    what: "the list of versions",
                    reason: "\(model) \(version) is no version of a model"
                )
            }
            versions.append(PublishedVersion(model: name, version: number, manifest: manifest))
        }
        return versions.sorted { one, other in
            one.model == other.model ? one.version > other.version : one.model < other.model
        }
    }

    func someBlob() throws(RegistryError) -> Digest? {
        try query { () throws(SQLiteError) in
            try connection.first("SELECT digest FROM blob WHERE state = 'present' LIMIT 1") {
                row throws(SQLiteError) in try row.digest(0)
            }
        }
    }

    func owners() throws(RegistryError) -> [String: OwnerName] {
        let rows = try query { () throws(SQLiteError) in
            try connection.rows("SELECT role, name FROM owner") { row throws(SQLiteError) in
                (try row.text(0), try row.text(1))
            }
        }
        return Dictionary(rows.compactMap { role, name in OwnerName(name).map { (role, $0) } }) { $1 }
    }

    func logRows(from index: Int64, limit: Int) throws(RegistryError) -> [LogRow] {
        try query { () throws(SQLiteError) in
            try connection.rows(
                """
                SELECT idx, entry, leaf_hash, role, version FROM log_entry WHERE idx >= ?
                ORDER BY idx LIMIT ?
                """,
                .integer(index),
                .integer(Int64(limit))
            ) { row throws(SQLiteError) in
                LogRow(
                    index: try row.integer(0),
                    entry: try row.blob(1),
                    leafHash: try row.digest(2),
                    role: try row.text(3),
                    version: try row.integer(4)
                )
            }
        }
    }

    func counts() throws(RegistryError) -> RegistryCounts {
        let counts = try query { () throws(SQLiteError) in
            try connection.first(
                """
                SELECT (SELECT count(DISTINCT model) FROM model_version), (SELECT count(*) FROM model_version),
                    (SELECT count(*) FROM blob WHERE state = 'present'),
                    (SELECT coalesce(sum(length), 0) FROM blob WHERE state = 'present'),
                    (SELECT coalesce(max(idx) + 1, 0) FROM log_entry),
                    (SELECT coalesce(max(version), 0) FROM role_head WHERE role = 'snapshot'),
                    (SELECT coalesce(max(snapshot), 0) FROM timestamp_file)
                """
            ) { row throws(SQLiteError) in
                RegistryCounts(
                    models: try row.integer(0),
                    versions: try row.integer(1),
                    blobs: try row.integer(2),
                    blobBytes: try row.integer(3),
                    logEntries: try row.integer(4),
                    committed: try row.integer(5),
                    published: try row.integer(6)
                )
            }
        }
        guard let counts else { throw .storage(reason: "the database did not answer") }
        return counts
    }
}
