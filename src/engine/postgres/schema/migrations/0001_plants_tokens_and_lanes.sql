-- Texts are ordered by their bytes, as SQLite orders them.

CREATE TABLE plants (
  id bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  tag text COLLATE "C"
);

-- An entry of an index has at most 2704 bytes: INDEXED_CHARACTERS of plants.ts.
CREATE INDEX plants_by_tag ON plants (left(tag, 200), id) WHERE tag IS NOT NULL;

CREATE TABLE tokens (
  name text COLLATE "C" NOT NULL,
  hash text COLLATE "C" PRIMARY KEY,
  scope text NOT NULL CHECK (scope IN ('read', 'write')),
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);

CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;

CREATE TABLE lanes (
  lane text PRIMARY KEY,
  seq bigint NOT NULL,
  fenced_from bigint,
  refused text NOT NULL DEFAULT '',
  seen_at timestamptz NOT NULL DEFAULT now()
);
