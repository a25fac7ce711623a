-- step: campaigns in waves
-- in SQLite:
-- The waves of a campaign that has any. A device's wave follows from its token's hash and the campaign's public id.
CREATE TABLE campaign_wave (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    number      INTEGER NOT NULL CHECK (number >= 0),
    part_end    INTEGER NOT NULL CHECK (part_end BETWEEN 1 AND 10000),  -- ten-thousandths of the audience up to here
    devices     INTEGER NOT NULL CHECK (devices >= 0),
    accepted    INTEGER NOT NULL DEFAULT 0,  -- pushes that the service took
    failed      INTEGER NOT NULL DEFAULT 0,  -- pushes that it did not take, those to be tried again included
    begun_at    INTEGER,
    ended_at    INTEGER,                     -- when the last of its devices had an outcome
    held_at     INTEGER,                     -- when the campaign was suspended before the next one
    released_at INTEGER,                     -- when an operator let the next one begin
    CHECK (ended_at IS NULL OR begun_at IS NOT NULL),
    PRIMARY KEY (campaign_id, number)
) STRICT, WITHOUT ROWID;

-- A shard is a range of ids of one wave's devices: the ranges of different waves overlap.
ALTER TABLE shard ADD COLUMN wave INTEGER NOT NULL DEFAULT 0;
