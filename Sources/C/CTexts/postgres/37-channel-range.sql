-- SQLite's step 37 writes this list as a range, which is faster there. PostgreSQL compares with a list as fast.
COMMENT ON COLUMN device.environment IS 'the channel: 0 production and 1 sandbox of the platform''s own push service, 2 and 3 of the one beside it';
