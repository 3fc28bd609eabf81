-- How many plants there are. One row.
CREATE TABLE plant_count (plants INTEGER NOT NULL) STRICT;
INSERT INTO plant_count SELECT count(*) FROM plants;
