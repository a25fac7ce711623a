-- SQLite's step 38 makes one index of these and the next. PostgreSQL compares (app_id, id) as a row, which takes an index of its own.
COMMENT ON INDEX device_sandbox IS 'the devices of channel 1, in the order of the primary key';
