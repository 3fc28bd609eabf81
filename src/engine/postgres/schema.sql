-- The tables of a plantstore. Texts are ordered by their bytes, as SQLite orders them. A column is a line: "check" reads it.

CREATE TABLE plantstore_schema (
  version integer PRIMARY KEY
);

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
  scope text NOT NULL CONSTRAINT known_scope CHECK (scope IN ('read', 'write')),
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);

CREATE UNIQUE INDEX tokens_by_name ON tokens (name) WHERE revoked_at IS NULL;

-- One row for each writing process. Its commits find it by key and number, past the older versions that a long snapshot
-- keeps. logs: whether it adds to the change log. added: the plants that its commits have added.
CREATE TABLE lanes (
  lane text NOT NULL,
  seq bigint NOT NULL,
  fenced_from bigint,
  refused text NOT NULL DEFAULT '',
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  logs boolean NOT NULL DEFAULT false,
  added bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (lane, seq)
);

-- How many plants there are: this one row, and what each lane has added.
CREATE TABLE plant_count (
  id integer PRIMARY KEY DEFAULT 1,
  plants bigint NOT NULL
);

INSERT INTO plant_count (plants) VALUES (0);

-- mark: random bits of the commit that added the entry.
CREATE TABLE changes (
  number bigint PRIMARY KEY,
  at bigint NOT NULL,
  action text NOT NULL,
  plant bigint NOT NULL,
  before text,
  after text,
  token text,
  address text,
  request text,
  mark bigint NOT NULL
);

CREATE INDEX changes_by_plant ON changes (plant, number);

-- One row. last: the number of the last entry, and the key by which the row is found, as in lanes. log: the name of the
-- change log; NULL: none is kept. timeline: that of the server.
CREATE TABLE change_log (
  last bigint PRIMARY KEY,
  log text,
  keep_ms bigint,
  timeline text NOT NULL DEFAULT ''
);

INSERT INTO change_log (last) VALUES (0);

-- One row: the number and the mark of the last entry that was removed. Not in change_log, which commits lock.
CREATE TABLE change_log_start (
  id integer PRIMARY KEY DEFAULT 1,
  number bigint NOT NULL,
  mark bigint NOT NULL
);

INSERT INTO change_log_start (number, mark) VALUES (0, 0);
