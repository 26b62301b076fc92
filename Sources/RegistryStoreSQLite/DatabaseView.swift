import Names
import Registry
import SQLiteKit

/// What is committed, shown to devices or not yet.
extension Database: RegistryView {
    func newest(_ role: String) throws(RegistryError) -> RoleFile? {
        try query { () throws(SQLiteError) in
            try connection.first(
                """
                SELECT version, bytes, sha256 FROM metadata_file WHERE role = ?
                ORDER BY version DESC LIMIT 1
                """,
                .text(role)
            ) { row throws(SQLiteError) in try file(role, row) }
        }
    }

    func file(_ role: String, _ version: Int64) throws(RegistryError) -> RoleFile? {
        try query { () throws(SQLiteError) in
            try connection.first(
                "SELECT version, bytes, sha256 FROM metadata_file WHERE role = ? AND version = ?",
                .text(role),
                .integer(version)
            ) { row throws(SQLiteError) in try file(role, row) }
        }
    }

    func versions() throws(RegistryError) -> [String: Int64] {
        let heads = try query { () throws(SQLiteError) in
            try connection.rows("SELECT role, version FROM role_head") { row throws(SQLiteError) in
                (try row.text(0), try row.integer(1))
            }
        }
        return Dictionary(uniqueKeysWithValues: heads)
    }

    func timestamp() throws(RegistryError) -> TimestampFile? {
        try query { () throws(SQLiteError) in
            try connection.first(
                """
                SELECT version, snapshot, bytes, sha256, issued_at FROM timestamp_file
                ORDER BY version DESC LIMIT 1
                """
            ) { row throws(SQLiteError) in
                TimestampFile(
                    version: try row.integer(0),
                    snapshot: try row.integer(1),
                    bytes: try row.blob(2),
                    sha256: try row.digest(3),
                    issued: try row.time(4)
                )
            }
        }
    }

    func document(_ path: String, _ digest: Digest) throws(RegistryError) -> TargetDocument? {
        try query { () throws(SQLiteError) in
            try connection.first(
                "SELECT bytes FROM target_file WHERE path = ? AND sha256 = ?",
                .text(path),
                .blob(digest.bytes)
            ) { row throws(SQLiteError) in
                TargetDocument(path: path, sha256: digest, bytes: try row.blob(0))
            }
        }
    }

    func manifest(_ model: ModelName, _ version: ModelVersion) throws(RegistryError) -> Digest? {
        try query { () throws(SQLiteError) in
            try connection.first(
                "SELECT manifest FROM model_version WHERE model = ? AND version = ?",
                .text(model.description),
                .text(version.description)
            ) { row throws(SQLiteError) in try row.digest(0) }
        }
    }

    func blobLength(_ digest: Digest) throws(RegistryError) -> UInt64? {
        try query { () throws(SQLiteError) in
            try connection.first(
                "SELECT length FROM blob WHERE digest = ? AND state = 'present'",
                .blob(digest.bytes)
            ) { row throws(SQLiteError) in try row.unsigned(0) }
        }
    }

    func hasBlockProof(_ proof: BlockProof) throws(RegistryError) -> Bool {
        let found = try query { () throws(SQLiteError) in
            try connection.first(
                "SELECT 1 FROM block_proof WHERE file = ? AND block_list = ? AND block_size = ?",
                .blob(proof.file.bytes),
                .blob(proof.list.bytes),
                .integer(Int64(clamping: proof.blockSize))
            ) { row throws(SQLiteError) in try row.integer(0) }
        }
        return found != nil
    }

    func logSize() throws(RegistryError) -> Int64 {
        let size = try query { () throws(SQLiteError) in
            try connection.first("SELECT coalesce(max(idx) + 1, 0) FROM log_entry") {
                row throws(SQLiteError) in
                try row.integer(0)
            }
        }
        return size ?? 0
    }

    func setting(_ name: String) throws(RegistryError) -> String? {
        try query { () throws(SQLiteError) in
            try connection.first("SELECT value FROM setting WHERE name = ?", .text(name)) {
                row throws(SQLiteError) in try row.text(0)
            }
        }
    }
}
