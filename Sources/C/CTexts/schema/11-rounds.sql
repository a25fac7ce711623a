-- step: campaigns that are sent again
-- in SQLite:
-- What the devices were counted as that remained in a shard when its campaign ended: 6 expired, 8 cancelled. NULL: it
-- is open, or came to its own end. A campaign that is opened again may have some shards of each.
ALTER TABLE shard ADD COLUMN rest INTEGER CHECK (rest IN (6, 8));
UPDATE shard SET rest = iif((SELECT state FROM campaign WHERE id = campaign_id) = 'completed', 6, 8)
    WHERE done = 1 AND (cursor < last OR remaining > 0)
        AND campaign_id IN (SELECT id FROM campaign WHERE state IN ('completed', 'cancelled', 'superseded'));

-- While retrying, of a device that had an outcome before: 1 not tried since then, 2 for a reminder (it was accepted,
-- and is so again if the reminder is not sent), 3 both.
ALTER TABLE delivery ADD COLUMN again INTEGER NOT NULL DEFAULT 0 CHECK (again BETWEEN 0 AND 3);

-- Campaigns that were opened again for some of their devices: by an operator, or to remind.
CREATE TABLE campaign_round (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    number      INTEGER NOT NULL CHECK (number >= 1),
    kind        TEXT NOT NULL CHECK (kind IN ('retry', 'reminder')),
    states      TEXT NOT NULL,  -- which outcomes, separated by spaces
    due_at      INTEGER,        -- of a reminder
    begun_at    INTEGER NOT NULL,
    -- Devices are put in line in ascending order, of a reminder first those with a row in delivery, then those of
    -- delivery_batch.
    at_batches  INTEGER NOT NULL DEFAULT 0 CHECK (at_batches IN (0, 1)),
    cursor      INTEGER NOT NULL DEFAULT 0,
    devices     INTEGER NOT NULL DEFAULT 0 CHECK (devices >= 0),
    gathered_at INTEGER,        -- when all were in line, or the campaign ended before that
    CHECK ((due_at IS NOT NULL) = (kind = 'reminder')),
    PRIMARY KEY (campaign_id, number)
) STRICT, WITHOUT ROWID;
