-- The number of plants moves into the row of the change log: a commit with a change log writes one page for both.
ALTER TABLE change_log ADD COLUMN plants INTEGER NOT NULL DEFAULT 0;
UPDATE change_log SET plants = (SELECT count(*) FROM plants);
DROP TABLE plant_count;
