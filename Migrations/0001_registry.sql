-- The registry: what was signed, in which order, and what devices may see.
--
-- Times are seconds since 1970, digests are raw SHA-256. A snapshot's version
-- is also the number of the commit that made it: each row that a commit adds
-- names it, and is visible once a timestamp names that snapshot or a later one.
--
-- History only grows. UPDATE and DELETE are refused by triggers; REPLACE does
-- not fire a delete trigger unless recursive_triggers is on, so an insert that
-- would replace is refused by a trigger of its own.

PRAGMA application_id = 1397047628; -- "SEAL"

CREATE TABLE schema_migration (
    number     INTEGER PRIMARY KEY CHECK (number > 0),
    name       TEXT NOT NULL UNIQUE,
    sha256     BLOB NOT NULL CHECK (length(sha256) = 32),
    applied_at INTEGER NOT NULL
) STRICT;

-- What `init` decided, and nothing that changes by itself.
CREATE TABLE setting (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Every role file but the timestamps, as received or signed.
CREATE TABLE metadata_file (
    role         TEXT NOT NULL CHECK (role <> 'timestamp'),
    version      INTEGER NOT NULL CHECK (version > 0),
    bytes        BLOB NOT NULL,
    sha256       BLOB NOT NULL CHECK (length(sha256) = 32),
    snapshot     INTEGER NOT NULL CHECK (snapshot > 0),
    committed_at INTEGER NOT NULL,
    PRIMARY KEY (role, version),
    UNIQUE (snapshot, role)
) STRICT;

CREATE TRIGGER metadata_file_insert BEFORE INSERT ON metadata_file
WHEN NEW.version <> (SELECT coalesce(max(version), 0) + 1 FROM metadata_file WHERE role = NEW.role)
BEGIN SELECT RAISE(ABORT, 'metadata_file: the next version must follow the last'); END;
CREATE TRIGGER metadata_file_update BEFORE UPDATE ON metadata_file
BEGIN SELECT RAISE(ABORT, 'metadata_file is append-only'); END;
CREATE TRIGGER metadata_file_delete BEFORE DELETE ON metadata_file
BEGIN SELECT RAISE(ABORT, 'metadata_file is append-only'); END;

-- The newest committed version of each role; kept by the trigger alone.
CREATE TABLE role_head (
    role    TEXT PRIMARY KEY,
    version INTEGER NOT NULL CHECK (version > 0)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER metadata_file_head AFTER INSERT ON metadata_file
BEGIN
    INSERT INTO role_head (role, version) VALUES (NEW.role, NEW.version)
    ON CONFLICT (role) DO UPDATE SET version = excluded.version;
END;

-- The newest row is what devices poll; what it names is published.
CREATE TABLE timestamp_file (
    version   INTEGER PRIMARY KEY CHECK (version > 0),
    snapshot  INTEGER NOT NULL CHECK (snapshot > 0),
    bytes     BLOB NOT NULL,
    sha256    BLOB NOT NULL CHECK (length(sha256) = 32),
    issued_at INTEGER NOT NULL
) STRICT;

CREATE TRIGGER timestamp_file_insert BEFORE INSERT ON timestamp_file
WHEN NEW.version <> (SELECT coalesce(max(version), 0) + 1 FROM timestamp_file)
    OR NEW.snapshot < (SELECT coalesce(max(snapshot), 0) FROM timestamp_file)
    OR NOT EXISTS (SELECT 1 FROM metadata_file WHERE role = 'snapshot' AND version = NEW.snapshot)
BEGIN SELECT RAISE(ABORT, 'timestamp_file: versions and snapshots only go up'); END;
CREATE TRIGGER timestamp_file_update BEFORE UPDATE ON timestamp_file
BEGIN SELECT RAISE(ABORT, 'timestamp_file is append-only'); END;
CREATE TRIGGER timestamp_file_delete BEFORE DELETE ON timestamp_file
BEGIN SELECT RAISE(ABORT, 'timestamp_file is append-only'); END;

-- Documents that role files list: manifests, live documents, settings.
CREATE TABLE target_file (
    path     TEXT NOT NULL,
    sha256   BLOB NOT NULL CHECK (length(sha256) = 32),
    bytes    BLOB NOT NULL,
    snapshot INTEGER NOT NULL CHECK (snapshot > 0),
    PRIMARY KEY (path, sha256)
) STRICT;

CREATE TRIGGER target_file_insert BEFORE INSERT ON target_file
WHEN EXISTS (SELECT 1 FROM target_file WHERE path = NEW.path AND sha256 = NEW.sha256)
BEGIN SELECT RAISE(ABORT, 'target_file is append-only'); END;
CREATE TRIGGER target_file_update BEFORE UPDATE ON target_file
BEGIN SELECT RAISE(ABORT, 'target_file is append-only'); END;
CREATE TRIGGER target_file_delete BEFORE DELETE ON target_file
BEGIN SELECT RAISE(ABORT, 'target_file is append-only'); END;

-- A version, once published, is one manifest for ever, also when no role lists it any more.
CREATE TABLE model_version (
    model    TEXT NOT NULL,
    version  TEXT NOT NULL,
    manifest BLOB NOT NULL CHECK (length(manifest) = 32),
    snapshot INTEGER NOT NULL CHECK (snapshot > 0),
    PRIMARY KEY (model, version)
) STRICT;

CREATE TRIGGER model_version_insert BEFORE INSERT ON model_version
WHEN EXISTS (SELECT 1 FROM model_version WHERE model = NEW.model AND version = NEW.version)
BEGIN SELECT RAISE(ABORT, 'model_version is append-only'); END;
CREATE TRIGGER model_version_update BEFORE UPDATE ON model_version
BEGIN SELECT RAISE(ABORT, 'model_version is append-only'); END;
CREATE TRIGGER model_version_delete BEFORE DELETE ON model_version
BEGIN SELECT RAISE(ABORT, 'model_version is append-only'); END;

-- The log: one entry for each role file and each snapshot, in commit order.
CREATE TABLE log_entry (
    idx       INTEGER PRIMARY KEY CHECK (idx >= 0),
    entry     BLOB NOT NULL CHECK (length(entry) BETWEEN 1 AND 65535),
    leaf_hash BLOB NOT NULL UNIQUE CHECK (length(leaf_hash) = 32),
    role      TEXT NOT NULL,
    version   INTEGER NOT NULL,
    snapshot  INTEGER NOT NULL,
    UNIQUE (role, version),
    FOREIGN KEY (role, version) REFERENCES metadata_file (role, version)
) STRICT;

CREATE TRIGGER log_entry_insert BEFORE INSERT ON log_entry
WHEN NEW.idx <> (SELECT coalesce(max(idx), -1) + 1 FROM log_entry)
    OR EXISTS (SELECT 1 FROM log_entry WHERE leaf_hash = NEW.leaf_hash)
    OR EXISTS (SELECT 1 FROM log_entry WHERE role = NEW.role AND version = NEW.version)
BEGIN SELECT RAISE(ABORT, 'log_entry is append-only'); END;
CREATE TRIGGER log_entry_update BEFORE UPDATE ON log_entry
BEGIN SELECT RAISE(ABORT, 'log_entry is append-only'); END;
CREATE TRIGGER log_entry_delete BEFORE DELETE ON log_entry
BEGIN SELECT RAISE(ABORT, 'log_entry is append-only'); END;

-- What the blob store holds. A row that is `deleting` counts as absent.
CREATE TABLE blob (
    digest      BLOB PRIMARY KEY CHECK (length(digest) = 32),
    length      INTEGER NOT NULL CHECK (length >= 0),
    state       TEXT NOT NULL CHECK (state IN ('present', 'deleting')),
    lease_until INTEGER NOT NULL,
    stored_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which published manifest needs which blob.
CREATE TABLE blob_use (
    manifest BLOB NOT NULL CHECK (length(manifest) = 32),
    digest   BLOB NOT NULL REFERENCES blob (digest) ON DELETE RESTRICT,
    PRIMARY KEY (manifest, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_use_digest ON blob_use (digest);

-- Pairs of a file and a block list that were read and found to describe the same bytes.
CREATE TABLE block_proof (
    file       BLOB NOT NULL CHECK (length(file) = 32),
    block_list BLOB NOT NULL CHECK (length(block_list) = 32),
    block_size INTEGER NOT NULL CHECK (block_size > 0),
    PRIMARY KEY (file, block_list, block_size)
) STRICT, WITHOUT ROWID;

-- Bearer tokens, by digest alone: the secret is never stored.
CREATE TABLE token (
    id         INTEGER PRIMARY KEY,
    sha256     BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
    scope      TEXT NOT NULL,
    label      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

-- Display names of the owners of delegations; outside the log, so that they can be changed.
CREATE TABLE owner (
    role TEXT PRIMARY KEY,
    name TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What operators ask about afterwards: tokens, commits, refused commits.
CREATE TABLE event (
    seq     INTEGER PRIMARY KEY CHECK (seq > 0),
    at      INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail  TEXT NOT NULL
) STRICT;

CREATE TRIGGER event_insert BEFORE INSERT ON event
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM event)
BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
CREATE TRIGGER event_update BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
CREATE TRIGGER event_delete BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
