-- step: channels as a range
-- in SQLite:
-- SQLite makes a table of a list of more than two values, anew for every row that is written: two of them cost an import a third of its
-- time. A range is two comparisons. The text of the CHECK is changed in place (step 35), and a trigger that is made and dropped changes
-- the schema's number (step 36).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'environment IN (0, 1, 2, 3)', 'environment BETWEEN 0 AND 3')
    WHERE type = 'table' AND name IN ('device', 'shard', 'delivery', 'token_doubt');
PRAGMA writable_schema = RESET;
CREATE TRIGGER device_channels_changed AFTER DELETE ON device BEGIN SELECT 1; END;
DROP TRIGGER device_channels_changed;
-- in PostgreSQL:
-- SQLite's step 37 writes this list as a range, which is faster there. PostgreSQL compares with a list as fast.
COMMENT ON COLUMN device.environment IS 'the channel: 0 production and 1 sandbox of the platform''s own push service, 2 and 3 of the one beside it';
