-- The schema of a database. "plnt" in the header marks the file as plantstore's. change_log has one row: the name of the
-- change log (NULL: none is kept), its last number and size, and the number of plants. mark: random bits of the commit
-- that added an entry; start_mark: those of the last entry that was removed.

PRAGMA application_id = 0x706c6e74;

CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;

-- Pages of plants by tag. Plants without a tag cost it nothing.
CREATE INDEX plants_by_tag ON plants (tag, id) WHERE tag IS NOT NULL;

CREATE TABLE tokens (
  name TEXT NOT NULL,
  hash TEXT NOT NULL PRIMARY KEY,
  scope TEXT NOT NULL CHECK (scope IN ('read', 'write')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;

CREATE TABLE changes (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  plant INTEGER NOT NULL,
  before TEXT,
  after TEXT,
  token TEXT,
  address TEXT,
  request TEXT,
  mark INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX changes_by_plant ON changes (plant);

CREATE TABLE change_log (
  log TEXT,
  keep_ms INTEGER,
  last INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  start_mark INTEGER NOT NULL DEFAULT 0,
  plants INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO change_log (last, bytes) VALUES (0, 0);
