-- step: countries of devices
-- in SQLite:
-- Where the device's user can get the app, two letters of ISO 3166-1; NULL: not known. The index tells which countries there are.
ALTER TABLE device ADD COLUMN country TEXT;
CREATE INDEX device_country ON device (app_id, country) WHERE country IS NOT NULL AND removed_at IS NULL;
-- in PostgreSQL:
-- Where the device's user can get the app, two letters of ISO 3166-1; NULL: not known. The index tells which countries there are.
ALTER TABLE device ADD COLUMN country text COLLATE "C";
CREATE INDEX device_country ON device (app_id, country) WHERE country IS NOT NULL AND removed_at IS NULL;
