-- step: counts over time
-- in SQLite:
-- How many devices seen lately had which version, hour by hour, later day by day and week by week.
CREATE TABLE version_count (
    app_id     INTEGER NOT NULL REFERENCES app (id),
    counted_at INTEGER NOT NULL,
    version    TEXT NOT NULL,     -- '': unknown; '*': all versions that have no row of their own
    devices    INTEGER NOT NULL CHECK (devices > 0),
    PRIMARY KEY (app_id, counted_at, version)
) STRICT, WITHOUT ROWID;
-- in PostgreSQL:
-- As SQLite's step of this number.
CREATE TABLE version_count (
    app_id     bigint NOT NULL REFERENCES app,
    counted_at bigint NOT NULL,
    version    text COLLATE "C" NOT NULL,  -- '': unknown; '*': all versions that have no row of their own
    devices    bigint NOT NULL CHECK (devices > 0),
    PRIMARY KEY (app_id, counted_at, version)
);
