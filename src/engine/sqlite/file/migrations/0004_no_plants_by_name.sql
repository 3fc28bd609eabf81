-- Databases of unreleased builds had an index by name.
DROP INDEX IF EXISTS plants_by_name;
