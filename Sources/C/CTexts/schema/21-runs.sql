-- step: a run for each campaign
-- in SQLite:
-- The row that fences, made with its campaign: whoever owns it sends, and nobody else. Its counts are the campaign's.
CREATE TABLE campaign_run (
    campaign_id  INTEGER PRIMARY KEY REFERENCES campaign (id),
    owner        INTEGER,
    epoch        INTEGER NOT NULL DEFAULT 0,  -- one more with each owner, and without one
    commits      INTEGER NOT NULL DEFAULT 0,  -- the number of the last commit: a commit says which it is
    rest         INTEGER CHECK (rest IN (6, 8)),   -- what those count as whom the campaign has not come to; NULL: pending
    -- Since it is over: what those count as who were to be tried again. 6 is written to their rows; 8 is only shown, for the
    -- campaign may go on. NULL: they are tried again.
    ended        INTEGER CHECK (ended IN (6, 8)),
    -- How many devices are in which state. Pending is the sum of shard.remaining, and 0 before there are shards. Of one
    -- that is cancelled or superseded, who is pending or retrying is shown as cancelled.
    pending      INTEGER NOT NULL DEFAULT 0 CHECK (pending >= 0),
    accepted     INTEGER NOT NULL DEFAULT 0 CHECK (accepted >= 0),
    retrying     INTEGER NOT NULL DEFAULT 0 CHECK (retrying >= 0),
    rejected     INTEGER NOT NULL DEFAULT 0 CHECK (rejected >= 0),
    unregistered INTEGER NOT NULL DEFAULT 0 CHECK (unregistered >= 0),
    expired      INTEGER NOT NULL DEFAULT 0 CHECK (expired >= 0),
    filtered     INTEGER NOT NULL DEFAULT 0 CHECK (filtered >= 0),
    cancelled    INTEGER NOT NULL DEFAULT 0 CHECK (cancelled >= 0)
) STRICT;
DROP TRIGGER campaign_began;
DROP TRIGGER campaign_moved;

-- A shard is over when its cursor is at its last device. Who had gone from a shard by the time that its last batch came in,
-- after the campaign's end, is not of the audience; nor does a shard that came to its own end have anybody left.
INSERT INTO campaign_run (campaign_id, rest, ended, pending, accepted, retrying, rejected, unregistered, expired, filtered,
        cancelled)
    SELECT c.id,
        coalesce((SELECT max(s.rest) FROM shard AS s WHERE s.campaign_id = c.id AND s.done = 1),
            iif(c.pruned_at IS NULL, NULL, 8)),
        CASE WHEN c.state = 'completed' THEN 6 WHEN c.finished_at IS NOT NULL THEN 8 END,
        (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s WHERE s.campaign_id = c.id AND s.done = 0), c.accepted,
        c.retrying, c.rejected, c.unregistered,
        max(0, c.expired - (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s
            WHERE s.campaign_id = c.id AND s.rest = 6 AND s.cursor = s.last AND c.pruned_at IS NULL)),
        c.filtered,
        max(0, c.cancelled - (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s
            WHERE s.campaign_id = c.id AND s.rest = 8 AND s.cursor = s.last AND c.pruned_at IS NULL))
    FROM campaign AS c;
DROP INDEX shard_open;
CREATE TABLE shard_new (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    number      INTEGER NOT NULL CHECK (number >= 0),
    wave        INTEGER NOT NULL DEFAULT 0,
    environment INTEGER NOT NULL DEFAULT 0 CHECK (environment IN (0, 1)),
    -- Whether plain outcomes go to delivery_batch, whose batches do not overlap: those of one environment, and of no wave.
    packs       INTEGER NOT NULL DEFAULT 1 CHECK (packs IN (0, 1)),
    cursor      INTEGER NOT NULL,  -- every device up to and including this id has its outcome
    last        INTEGER NOT NULL,  -- the last device id of the shard
    remaining   INTEGER NOT NULL CHECK (remaining >= 0),  -- devices of the audience without an outcome
    CHECK (cursor <= last),
    PRIMARY KEY (campaign_id, number)
) STRICT, WITHOUT ROWID;
INSERT INTO shard_new (campaign_id, number, wave, environment, packs, cursor, last, remaining)
    SELECT campaign_id, number, wave, environment,
        -- Of one that ended before it was cut, both were made to pack.
        iif(environment = 1 AND EXISTS (SELECT 1 FROM shard AS o WHERE o.campaign_id = s.campaign_id AND o.environment = 0
            AND o.packs = 1), 0, packs),
        iif(done = 1 AND rest IS NULL, last, cursor), last,
        iif(done = 1 AND (rest IS NULL OR cursor = last), 0, remaining)
    FROM shard AS s;
DROP TABLE shard;
-- Every trigger is read again for each column otherwise, which is half of what a new store takes
-- (sqlite.org/pragma.html#pragma_legacy_alter_table). None of them names these columns: those that did are made anew below.
PRAGMA legacy_alter_table = ON;
ALTER TABLE shard_new RENAME TO shard;
ALTER TABLE campaign DROP COLUMN accepted;
ALTER TABLE campaign DROP COLUMN retrying;
ALTER TABLE campaign DROP COLUMN rejected;
ALTER TABLE campaign DROP COLUMN unregistered;
ALTER TABLE campaign DROP COLUMN expired;
ALTER TABLE campaign DROP COLUMN filtered;
ALTER TABLE campaign DROP COLUMN cancelled;
PRAGMA legacy_alter_table = OFF;
CREATE TRIGGER campaign_began AFTER INSERT ON campaign BEGIN
    INSERT INTO campaign_run (campaign_id) VALUES (NEW.id);
    INSERT INTO campaign_event (public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at,
            planned_at, pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled,
            upgraded, reasons, in_force)
        SELECT lower(hex(randomblob(16))), NEW.id, NEW.created_at, NEW.state, NEW.reason, NEW.started_at, NEW.finished_at,
            NEW.expires_at, NEW.planned_at,
            iif(NEW.finished_at IS NOT NULL, 0, CASE WHEN NEW.left_devices IS NOT NULL THEN NEW.left_devices
     WHEN NEW.planned_at IS NOT NULL THEN n.pending
     ELSE (SELECT p.devices FROM app AS p WHERE p.id = NEW.app_id) - iif((SELECT q.canary FROM requirement AS q WHERE q.id = NEW.requirement_id) IS NULL, 0,
    (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
     WHERE r.campaign_id = NEW.id AND v.removed_at IS NULL)) END), n.accepted,
            iif((NEW.state IN ('cancelled', 'superseded') AND NEW.pruned_at IS NULL), 0, n.retrying), n.rejected, n.unregistered, n.expired, n.filtered,
            n.cancelled + iif((NEW.state IN ('cancelled', 'superseded') AND NEW.pruned_at IS NULL), n.retrying + CASE WHEN NEW.left_devices IS NOT NULL THEN NEW.left_devices
     WHEN NEW.planned_at IS NOT NULL THEN n.pending
     ELSE (SELECT p.devices FROM app AS p WHERE p.id = NEW.app_id) - iif((SELECT q.canary FROM requirement AS q WHERE q.id = NEW.requirement_id) IS NULL, 0,
    (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
     WHERE r.campaign_id = NEW.id AND v.removed_at IS NULL)) END, 0), NEW.upgraded,
            (SELECT json_group_array(json_array(r.kind, r.reason, r.devices)) FROM campaign_reason AS r
             WHERE r.campaign_id = NEW.id AND r.devices > 0),
            (SELECT r.version FROM requirement AS r JOIN app AS a ON a.name = r.app AND a.platform = r.platform
             WHERE a.id = NEW.app_id AND r.kind = 'required' AND r.state = 'in_force' AND r.reach = 10000
             ORDER BY r.version_key DESC LIMIT 1)
        FROM campaign_run AS n WHERE n.campaign_id = NEW.id;
END;
CREATE TRIGGER campaign_moved AFTER UPDATE OF state ON campaign WHEN NEW.state <> OLD.state BEGIN
    INSERT INTO campaign_event (public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at,
            planned_at, pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled,
            upgraded, reasons, in_force)
        SELECT lower(hex(randomblob(16))), NEW.id, coalesce(NEW.finished_at, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)), NEW.state, NEW.reason, NEW.started_at, NEW.finished_at,
            NEW.expires_at, NEW.planned_at,
            iif(NEW.finished_at IS NOT NULL, 0, CASE WHEN NEW.left_devices IS NOT NULL THEN NEW.left_devices
     WHEN NEW.planned_at IS NOT NULL THEN n.pending
     ELSE (SELECT p.devices FROM app AS p WHERE p.id = NEW.app_id) - iif((SELECT q.canary FROM requirement AS q WHERE q.id = NEW.requirement_id) IS NULL, 0,
    (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
     WHERE r.campaign_id = NEW.id AND v.removed_at IS NULL)) END), n.accepted,
            iif((NEW.state IN ('cancelled', 'superseded') AND NEW.pruned_at IS NULL), 0, n.retrying), n.rejected, n.unregistered, n.expired, n.filtered,
            n.cancelled + iif((NEW.state IN ('cancelled', 'superseded') AND NEW.pruned_at IS NULL), n.retrying + CASE WHEN NEW.left_devices IS NOT NULL THEN NEW.left_devices
     WHEN NEW.planned_at IS NOT NULL THEN n.pending
     ELSE (SELECT p.devices FROM app AS p WHERE p.id = NEW.app_id) - iif((SELECT q.canary FROM requirement AS q WHERE q.id = NEW.requirement_id) IS NULL, 0,
    (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
     WHERE r.campaign_id = NEW.id AND v.removed_at IS NULL)) END, 0), NEW.upgraded,
            (SELECT json_group_array(json_array(r.kind, r.reason, r.devices)) FROM campaign_reason AS r
             WHERE r.campaign_id = NEW.id AND r.devices > 0),
            (SELECT r.version FROM requirement AS r JOIN app AS a ON a.name = r.app AND a.platform = r.platform
             WHERE a.id = NEW.app_id AND r.kind = 'required' AND r.state = 'in_force' AND r.reach = 10000
             ORDER BY r.version_key DESC LIMIT 1)
        FROM campaign_run AS n WHERE n.campaign_id = NEW.id;
END;
