CREATE TABLE changes (
  number bigint PRIMARY KEY,
  at bigint NOT NULL,
  action text NOT NULL,
  plant bigint NOT NULL,
  before text,
  after text,
  token text,
  address text,
  request text
);

CREATE INDEX changes_by_plant ON changes (plant, number);

-- One row. log: the name of the change log; NULL: none is kept. timeline: that of the server.
CREATE TABLE change_log (
  log text,
  keep_ms bigint,
  last bigint NOT NULL,
  timeline text NOT NULL DEFAULT ''
);

INSERT INTO change_log (last) VALUES (0);

-- Whether the process of a lane adds to the change log.
ALTER TABLE lanes ADD COLUMN logs boolean NOT NULL DEFAULT false;
