-- step: versions seen lately
-- in SQLite:
-- How many devices seen lately have each version, counted every hour; and since when a version and all older ones are below the
-- configured share.
CREATE TABLE version_census (
    app_id       INTEGER PRIMARY KEY REFERENCES app (id),
    counted_at   INTEGER NOT NULL,
    seen_since   INTEGER NOT NULL,  -- what counts as lately
    retire_below INTEGER NOT NULL,  -- the share, in millionths
    devices      INTEGER NOT NULL CHECK (devices >= 0),
    unknown      INTEGER NOT NULL CHECK (unknown >= 0)  -- of these, whose version nobody knows
) STRICT;
CREATE TABLE version_share (
    app_id      INTEGER NOT NULL REFERENCES app (id),
    version     TEXT NOT NULL,     -- as it was first spelt: 2 and 2.0.0 are one
    devices     INTEGER NOT NULL CHECK (devices >= 0),
    or_older    INTEGER NOT NULL CHECK (or_older >= devices),  -- with those of all older versions, and of none that is known
    below_since INTEGER,           -- NULL: it is not below the share
    is_told     INTEGER NOT NULL CHECK (is_told IN (0, 1)),  -- its fall was told, and it has not risen well above the share since
    PRIMARY KEY (app_id, version)
) STRICT, WITHOUT ROWID;
-- in PostgreSQL:
-- As SQLite's step of this number.
CREATE TABLE version_census (
    app_id       bigint PRIMARY KEY REFERENCES app,
    counted_at   bigint NOT NULL,
    seen_since   bigint NOT NULL,  -- what counts as lately
    retire_below bigint NOT NULL,  -- the share, in millionths
    devices      bigint NOT NULL CHECK (devices >= 0),
    unknown      bigint NOT NULL CHECK (unknown >= 0)  -- of these, whose version nobody knows
);
CREATE TABLE version_share (
    app_id      bigint NOT NULL REFERENCES app,
    version     text COLLATE "C" NOT NULL,  -- as it was first spelt: 2 and 2.0.0 are one
    devices     bigint NOT NULL CHECK (devices >= 0),
    or_older    bigint NOT NULL CHECK (or_older >= devices),  -- with those of all older versions, and of none that is known
    below_since bigint,            -- NULL: it is not below the share
    is_told     bigint NOT NULL CHECK (is_told IN (0, 1)),  -- its fall was told, and it has not risen well above the share since
    PRIMARY KEY (app_id, version)
);
