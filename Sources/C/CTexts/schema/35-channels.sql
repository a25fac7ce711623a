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
