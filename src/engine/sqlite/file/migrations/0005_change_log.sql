-- change_log has one row. Its column "log" is the name of the change log; NULL: none is kept.

   CREATE TABLE changes (
     number INTEGER PRIMARY KEY,
     at INTEGER NOT NULL,
     action TEXT NOT NULL,
     plant INTEGER NOT NULL,
     before TEXT,
     after TEXT,
     token TEXT,
     address TEXT,
     request TEXT
   ) STRICT;

   CREATE INDEX changes_by_plant ON changes (plant);

   CREATE TABLE change_log (
     log TEXT,
     keep_ms INTEGER,
     last INTEGER NOT NULL,
     bytes INTEGER NOT NULL
   ) STRICT;

   INSERT INTO change_log (last, bytes) VALUES (0, 0);
