-- step: channels of devices
-- in SQLite:
-- A device's channel is in "environment": 0 production and 1 sandbox of its platform's own push service, 2 and 3 of the one beside it.
-- No row has to be written for a CHECK that allows more: its text is changed in place (sqlite.org/lang_altertable.html, 7, on changes
-- "that do not affect the on-disk content"). RESET reads the schema again for this connection, and the indexes below change the
-- schema's number, by which the others see that they must.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'environment IN (0, 1)', 'environment IN (0, 1, 2, 3)')
    WHERE type = 'table' AND name IN ('device', 'shard', 'delivery', 'token_doubt');
PRAGMA writable_schema = RESET;
CREATE INDEX device_channel_2 ON device (app_id)
    WHERE coalesce(planned_environment, environment) = 2 AND removed_at IS NULL;
CREATE INDEX device_channel_3 ON device (app_id)
    WHERE coalesce(planned_environment, environment) = 3 AND removed_at IS NULL;
-- in PostgreSQL:
-- A device's channel is in "environment": 0 production and 1 sandbox of its platform's own push service, 2 and 3 of the one beside it.
-- NOT VALID: what is there was held to less, and no row has to be read for it.
ALTER TABLE device DROP CONSTRAINT device_environment_check, DROP CONSTRAINT device_planned_environment_check,
    ADD CONSTRAINT device_environment_check CHECK (environment IN (0, 1, 2, 3)) NOT VALID,
    ADD CONSTRAINT device_planned_environment_check CHECK (planned_environment IN (0, 1, 2, 3)) NOT VALID;
ALTER TABLE shard DROP CONSTRAINT shard_environment_check,
    ADD CONSTRAINT shard_environment_check CHECK (environment IN (0, 1, 2, 3)) NOT VALID;
ALTER TABLE delivery DROP CONSTRAINT delivery_environment_check,
    ADD CONSTRAINT delivery_environment_check CHECK (environment IN (0, 1, 2, 3)) NOT VALID;
ALTER TABLE token_doubt DROP CONSTRAINT token_doubt_environment_check,
    ADD CONSTRAINT token_doubt_environment_check CHECK (environment IN (0, 1, 2, 3)) NOT VALID;
CREATE INDEX device_channel_2 ON device (app_id, id)
    WHERE coalesce(planned_environment, environment) = 2 AND removed_at IS NULL;
CREATE INDEX device_channel_3 ON device (app_id, id)
    WHERE coalesce(planned_environment, environment) = 3 AND removed_at IS NULL;
