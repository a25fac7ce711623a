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
-- How long push services took to answer a campaign's requests, by stretch of time: each column has the answers within twice the time of
-- the one before.
CREATE TABLE campaign_latency (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    at          INTEGER NOT NULL,
    seconds     INTEGER NOT NULL CHECK (seconds > 0),
    b0          INTEGER NOT NULL CHECK (b0 >= 0),  -- within 0.5 ms
    b1          INTEGER NOT NULL CHECK (b1 >= 0),
    b2          INTEGER NOT NULL CHECK (b2 >= 0),
    b3          INTEGER NOT NULL CHECK (b3 >= 0),
    b4          INTEGER NOT NULL CHECK (b4 >= 0),
    b5          INTEGER NOT NULL CHECK (b5 >= 0),
    b6          INTEGER NOT NULL CHECK (b6 >= 0),
    b7          INTEGER NOT NULL CHECK (b7 >= 0),
    b8          INTEGER NOT NULL CHECK (b8 >= 0),
    b9          INTEGER NOT NULL CHECK (b9 >= 0),
    b10         INTEGER NOT NULL CHECK (b10 >= 0),
    b11         INTEGER NOT NULL CHECK (b11 >= 0),
    b12         INTEGER NOT NULL CHECK (b12 >= 0),
    b13         INTEGER NOT NULL CHECK (b13 >= 0),
    b14         INTEGER NOT NULL CHECK (b14 >= 0),
    b15         INTEGER NOT NULL CHECK (b15 >= 0),
    b16         INTEGER NOT NULL CHECK (b16 >= 0),
    b17         INTEGER NOT NULL CHECK (b17 >= 0),  -- longer than 32.768 s
    PRIMARY KEY (campaign_id, at, seconds)
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
CREATE TABLE campaign_latency (
    campaign_id bigint NOT NULL REFERENCES campaign,
    at          bigint NOT NULL,
    seconds     bigint NOT NULL CHECK (seconds > 0),
    b0          bigint NOT NULL CHECK (b0 >= 0),  -- within 0.5 ms
    b1          bigint NOT NULL CHECK (b1 >= 0),
    b2          bigint NOT NULL CHECK (b2 >= 0),
    b3          bigint NOT NULL CHECK (b3 >= 0),
    b4          bigint NOT NULL CHECK (b4 >= 0),
    b5          bigint NOT NULL CHECK (b5 >= 0),
    b6          bigint NOT NULL CHECK (b6 >= 0),
    b7          bigint NOT NULL CHECK (b7 >= 0),
    b8          bigint NOT NULL CHECK (b8 >= 0),
    b9          bigint NOT NULL CHECK (b9 >= 0),
    b10         bigint NOT NULL CHECK (b10 >= 0),
    b11         bigint NOT NULL CHECK (b11 >= 0),
    b12         bigint NOT NULL CHECK (b12 >= 0),
    b13         bigint NOT NULL CHECK (b13 >= 0),
    b14         bigint NOT NULL CHECK (b14 >= 0),
    b15         bigint NOT NULL CHECK (b15 >= 0),
    b16         bigint NOT NULL CHECK (b16 >= 0),
    b17         bigint NOT NULL CHECK (b17 >= 0),  -- longer than 32.768 s
    PRIMARY KEY (campaign_id, at, seconds)
);
