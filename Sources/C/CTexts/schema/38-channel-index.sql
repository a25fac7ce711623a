-- step: one index of channels
-- in SQLite:
-- One index of all channels but the first. Each index costs every row that is written, also where it leaves the row out: three of them
-- cost an import a thirtieth of its time, and each further push service would have brought two more.
CREATE INDEX device_channel ON device (app_id, coalesce(planned_environment, environment))
    WHERE coalesce(planned_environment, environment) > 0 AND removed_at IS NULL;
DROP INDEX device_sandbox;
DROP INDEX device_channel_2;
DROP INDEX device_channel_3;
-- in PostgreSQL:
-- SQLite's step 38 makes one index of those of channels 1, 2 and 3. PostgreSQL compares (app_id, id) as a row, which takes an index for each.
COMMENT ON INDEX device_sandbox IS 'the devices of channel 1, in the order of the primary key';
