-- step: who wants a campaign at any hour
-- in SQLite:
-- Since when a campaign is sent whatever the hour (pace.hours), and who wants that; NULL: within the hours.
ALTER TABLE campaign ADD COLUMN urgent_at INTEGER;
ALTER TABLE campaign ADD COLUMN urgent_by TEXT;
-- in PostgreSQL:
-- Since when a campaign is sent whatever the hour (pace.hours), and who wants that; NULL: within the hours.
ALTER TABLE campaign ADD COLUMN urgent_at bigint;
ALTER TABLE campaign ADD COLUMN urgent_by text;
