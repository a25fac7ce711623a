-- step: shards and retries by push environment
-- in SQLite:
-- The environment under which the shards of the app's campaign have the device, where it has changed since they were
-- cut; NULL: environment. A device is of one shard, whatever becomes of its environment.
ALTER TABLE device ADD COLUMN planned_environment INTEGER CHECK (planned_environment IN (0, 1));
-- As a rule few among many: a shard of sandbox devices must not read all others to find them.
CREATE INDEX device_sandbox ON device (app_id)
    WHERE coalesce(planned_environment, environment) = 1 AND removed_at IS NULL;
CREATE INDEX device_moved ON device (app_id) WHERE planned_environment IS NOT NULL;

-- A shard is a range of ids of one environment's devices: the ranges of the two overlap.
ALTER TABLE shard ADD COLUMN environment INTEGER NOT NULL DEFAULT 0 CHECK (environment IN (0, 1));
-- Whether plain outcomes go to delivery_batch, whose batches do not overlap: those of one environment, and of no wave.
ALTER TABLE shard ADD COLUMN packs INTEGER NOT NULL DEFAULT 1 CHECK (packs IN (0, 1));
UPDATE shard SET packs = 0 WHERE campaign_id IN (SELECT campaign_id FROM campaign_wave);

-- What older releases cut holds both environments: where sandbox devices are left, they get a shard beside it, and of
-- what remains as many as they are among the devices of the range. Of a wave that is an estimate, which the ends of
-- both shards correct. A campaign that is over keeps its counts where they are.
INSERT INTO shard (campaign_id, number, cursor, last, remaining, done, wave, environment, packs)
    SELECT s.campaign_id,
        (SELECT max(m.number) FROM shard AS m WHERE m.campaign_id = s.campaign_id)
            + row_number() OVER (PARTITION BY s.campaign_id ORDER BY s.number),
        s.cursor, s.last,
        CASE WHEN s.done = 1 THEN 0 ELSE
            s.remaining * (SELECT count(*) FROM device AS d INDEXED BY device_sandbox WHERE d.app_id = c.app_id AND d.removed_at IS NULL AND d.id > s.cursor AND d.id <= s.last AND coalesce(d.planned_environment, d.environment) = 1)
                / (SELECT count(*) FROM device AS d INDEXED BY device_live WHERE d.app_id = c.app_id AND d.removed_at IS NULL AND d.id > s.cursor AND d.id <= s.last) END,
        s.done, s.wave, 1, 0
    FROM shard AS s JOIN campaign AS c ON c.id = s.campaign_id
    WHERE s.cursor < s.last
        AND EXISTS (SELECT 1 FROM device AS d INDEXED BY device_sandbox WHERE d.app_id = c.app_id AND d.removed_at IS NULL AND d.id > s.cursor AND d.id <= s.last AND coalesce(d.planned_environment, d.environment) = 1);
UPDATE shard SET remaining = remaining - (SELECT t.remaining FROM shard AS t WHERE t.campaign_id = shard.campaign_id AND t.environment = 1 AND t.wave = shard.wave AND t.cursor = shard.cursor
        AND t.last = shard.last)
    WHERE environment = 0 AND EXISTS (SELECT 1 FROM shard AS t WHERE t.campaign_id = shard.campaign_id AND t.environment = 1 AND t.wave = shard.wave AND t.cursor = shard.cursor
        AND t.last = shard.last);

DROP INDEX shard_open;
CREATE INDEX shard_open ON shard (campaign_id, environment, number, remaining) WHERE done = 0;

-- Which service tries again, while retrying.
ALTER TABLE delivery ADD COLUMN environment INTEGER NOT NULL DEFAULT 0 CHECK (environment IN (0, 1));
UPDATE delivery SET environment = 1
    WHERE state = 3 AND 1 = (SELECT d.environment FROM device AS d WHERE d.id = device_id);
DROP INDEX delivery_retry;
CREATE INDEX delivery_retry ON delivery (campaign_id, environment, next_attempt_at) WHERE state = 3;
