ALTER TABLE tokens ADD COLUMN last_used_at INTEGER;
