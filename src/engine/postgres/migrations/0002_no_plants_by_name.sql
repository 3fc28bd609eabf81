-- Plants were once found by their names through them.
DROP INDEX IF EXISTS plants_by_name, plants_by_long_name;
