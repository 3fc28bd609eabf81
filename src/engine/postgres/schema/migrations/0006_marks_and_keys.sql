-- A publication FOR ALL TABLES refuses updates of a table without a primary key.
ALTER TABLE change_log ADD COLUMN id integer PRIMARY KEY DEFAULT 1;
ALTER TABLE plant_count ADD COLUMN id integer PRIMARY KEY DEFAULT 1;

-- mark: random bits of the commit that added an entry. Older cursors have none, and are refused.
ALTER TABLE changes ADD COLUMN mark bigint NOT NULL DEFAULT 0;
UPDATE change_log SET log = right(replace(gen_random_uuid()::text, '-', ''), 16) WHERE log IS NOT NULL;

-- One row: the number and the mark of the last entry that was removed. Not in change_log, which commits lock.
CREATE TABLE change_log_start (
  id integer PRIMARY KEY DEFAULT 1,
  number bigint NOT NULL,
  mark bigint NOT NULL
);

INSERT INTO change_log_start (number, mark) VALUES (0, 0);
