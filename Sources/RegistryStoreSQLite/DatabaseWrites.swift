import Names
import Registry
import SQLiteKit

/// What decisions write; each method is part of a transaction that its caller began.
extension Database {
    func insert(_ revision: Revision) throws(RegistryError) {
        try query { () throws(SQLiteError) in
            for file in revision.files {
                try connection.execute(
                    """
                    INSERT INTO metadata_file (role, version, bytes, sha256, snapshot, committed_at)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                    .text(file.role),
                    .integer(file.version),
                    .blob(file.bytes),
                    .blob(file.sha256.bytes),
                    .integer(revision.snapshot),
                    .integer(revision.time.rawValue)
                )
            }
            for row in revision.log {
                try connection.execute(
                    """
                    INSERT INTO log_entry (idx, entry, leaf_hash, role, version, snapshot)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                    .integer(row.index),
                    .blob(row.entry),
                    .blob(row.leafHash.bytes),
                    .text(row.role),
                    .integer(row.version),
                    .integer(revision.snapshot)
                )
            }
            for document in revision.documents {
                try connection.execute(
                    "INSERT INTO target_file (path, sha256, bytes, snapshot) VALUES (?, ?, ?, ?)",
                    .text(document.path),
                    .blob(document.sha256.bytes),
                    .blob(document.bytes),
                    .integer(revision.snapshot)
                )
            }
            for version in revision.versions {
                try connection.execute(
                    "INSERT INTO model_version (model, version, manifest, snapshot) VALUES (?, ?, ?, ?)",
                    .text(version.model.description),
                    .text(version.version.description),
                    .blob(version.manifest.bytes),
                    .integer(revision.snapshot)
                )
            }
            for (role, owner) in revision.owners {
                try connection.execute(
                    """
                    INSERT INTO owner (role, name) VALUES (?, ?)
                    ON CONFLICT (role) DO UPDATE SET name = excluded.name
                    """,
                    .text(role),
                    .text(owner.description)
                )
            }
            for broken in revision.broken {
                try connection.execute(
                    """
                    INSERT INTO expectation_break (snapshot, model, version, app, reason)
                    VALUES (?, ?, ?, ?, ?)
                    """,
                    .integer(revision.snapshot),
                    .text(broken.model.description),
                    .text(broken.version.description),
                    .text(broken.app.description),
                    .text(broken.reason)
                )
            }
            for (manifest, blobs) in revision.blobs {
                for blob in blobs {
                    try connection.execute(
                        "INSERT INTO blob_use (manifest, digest) VALUES (?, ?) ON CONFLICT DO NOTHING",
                        .blob(manifest.bytes),
                        .blob(blob.bytes)
                    )
                }
            }
        }
    }

    func insert(_ timestamp: TimestampFile) throws(RegistryError) {
        try query { () throws(SQLiteError) in
            try connection.execute(
                """
                INSERT INTO timestamp_file (version, snapshot, bytes, sha256, issued_at)
                VALUES (?, ?, ?, ?, ?)
                """,
                .integer(timestamp.version),
                .integer(timestamp.snapshot),
                .blob(timestamp.bytes),
                .blob(timestamp.sha256.bytes),
                .integer(timestamp.issued.rawValue)
            )
        }
    }

    func insert(_ event: RegistryEvent) throws(RegistryError) {
        try query { () throws(SQLiteError) in
            try connection.execute(
                """
                INSERT INTO event (seq, at, kind, subject, detail)
                VALUES ((SELECT coalesce(max(seq), 0) + 1 FROM event), ?, ?, ?, ?)
                """,
                .integer(event.time.rawValue),
                .text(event.kind.rawValue),
                .text(event.subject),
                .text(event.detail)
            )
        }
    }

    func insertSettings(of first: FirstCommit) throws(RegistryError) {
        try query { () throws(SQLiteError) in
            for (name, value) in first.settings {
                try connection.execute(
                    "INSERT INTO setting (name, value) VALUES (?, ?)",
                    .text(name),
                    .text(value)
                )
            }
        }
    }

    /// - Returns: The digests without a present row; the lease of the others is prolonged.
    func lease(_ digests: [Digest], until: UnixTime) throws(RegistryError) -> [Digest] {
        try query { () throws(SQLiteError) in
            var missing: [Digest] = []
            for digest in digests {
                let renewed = try connection.execute(
                    """
                    UPDATE blob SET lease_until = max(lease_until, ?)
                    WHERE digest = ? AND state = 'present'
                    """,
                    .integer(until.rawValue),
                    .blob(digest.bytes)
                )
                if renewed == 0 { missing.append(digest) }
            }
            return missing
        }
    }

    func insertBlob(_ digest: Digest, length: UInt64, lease: UnixTime, now: UnixTime) throws(RegistryError) {
        try query { () throws(SQLiteError) in
            try connection.execute(
                """
                INSERT INTO blob (digest, length, state, lease_until, stored_at)
                VALUES (?, ?, 'present', ?, ?)
                ON CONFLICT (digest) DO UPDATE
                SET state = 'present', lease_until = max(lease_until, excluded.lease_until)
                """,
                .blob(digest.bytes),
                .integer(Int64(clamping: length)),
                .integer(lease.rawValue),
                .integer(now.rawValue)
            )
        }
    }

    func insertBlockProof(_ proof: BlockProof) throws(RegistryError) {
        try query { () throws(SQLiteError) in
            try connection.execute(
                """
                INSERT INTO block_proof (file, block_list, block_size) VALUES (?, ?, ?)
                ON CONFLICT DO NOTHING
                """,
                .blob(proof.file.bytes),
                .blob(proof.list.bytes),
                .integer(Int64(clamping: proof.blockSize))
            )
        }
    }
}
