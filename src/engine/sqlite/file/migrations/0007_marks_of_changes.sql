-- mark: random bits of the commit that added an entry; start_mark: those of the last entry that was removed. ENTRY_BYTES
-- of change-log-row.ts counts them. Older cursors have no mark, and are refused.
ALTER TABLE changes ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
ALTER TABLE change_log ADD COLUMN start_mark INTEGER NOT NULL DEFAULT 0;
UPDATE change_log SET
  log = CASE WHEN log IS NOT NULL THEN lower(hex(randomblob(8))) END,
  bytes = bytes + 8 * (SELECT count(*) FROM changes);
