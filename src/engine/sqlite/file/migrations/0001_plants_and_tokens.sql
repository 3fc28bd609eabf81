-- Marks the file as plantstore's ("plnt") in the same transaction: a first start that is killed leaves nothing, or everything.
-- Statements are indented as they always were, because SQLite keeps their text.

PRAGMA application_id = 0x706c6e74;

   CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT;

   CREATE TABLE tokens (
     name TEXT NOT NULL,
     hash TEXT NOT NULL PRIMARY KEY,
     scope TEXT NOT NULL CHECK (scope IN ('read', 'write')),
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER
   ) STRICT, WITHOUT ROWID;

   CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;
