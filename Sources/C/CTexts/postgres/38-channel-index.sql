-- SQLite's step 38 makes one index of those of channels 1, 2 and 3. PostgreSQL compares (app_id, id) as a row, which takes an index for each.
COMMENT ON INDEX device_sandbox IS 'the devices of channel 1, in the order of the primary key';
