-- Plants were once found by their names through it.
DROP INDEX IF EXISTS plants_by_name;
