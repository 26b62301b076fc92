-- What apps need of models, as they said it: advisory and unsigned.
--
-- An expectation may be replaced and taken back; that a version was published
-- although it breaks one stays on record.

CREATE TABLE expectation (
    model         TEXT NOT NULL,
    app           TEXT NOT NULL,
    document      BLOB NOT NULL,
    registered_by TEXT NOT NULL,
    registered_at INTEGER NOT NULL,
    PRIMARY KEY (model, app)
) STRICT, WITHOUT ROWID;

CREATE TABLE expectation_break (
    snapshot INTEGER NOT NULL CHECK (snapshot > 0),
    model    TEXT NOT NULL,
    version  TEXT NOT NULL,
    app      TEXT NOT NULL,
    reason   TEXT NOT NULL,
    PRIMARY KEY (snapshot, model, version, app)
) STRICT;

CREATE TRIGGER expectation_break_insert BEFORE INSERT ON expectation_break
WHEN EXISTS (
    SELECT 1 FROM expectation_break
    WHERE snapshot = NEW.snapshot AND model = NEW.model AND version = NEW.version AND app = NEW.app
)
BEGIN SELECT RAISE(ABORT, 'expectation_break is append-only'); END;
CREATE TRIGGER expectation_break_update BEFORE UPDATE ON expectation_break
BEGIN SELECT RAISE(ABORT, 'expectation_break is append-only'); END;
CREATE TRIGGER expectation_break_delete BEFORE DELETE ON expectation_break
BEGIN SELECT RAISE(ABORT, 'expectation_break is append-only'); END;
