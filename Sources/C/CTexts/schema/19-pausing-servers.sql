-- step: which server wants a pause of a key
-- in SQLite:
-- NULL: all of them, as older releases took it.
ALTER TABLE provider_token ADD COLUMN paused_by TEXT;
