-- step: pauses of provider tokens
-- in SQLite:
-- Until when the push service wants no other token of this key, and no pushes with it.
ALTER TABLE provider_token ADD COLUMN paused_until INTEGER;
