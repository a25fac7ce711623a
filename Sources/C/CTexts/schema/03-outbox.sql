-- step: pruned campaigns, the outbox of notifications
-- in SQLite:
-- When pruning began to take the campaign's deliveries away. Its counts and reasons stay.
ALTER TABLE campaign ADD COLUMN pruned_at INTEGER;

-- Each state that a campaign came into, with the campaign as it was at that moment. Written by triggers, so that the
-- change and its event are one transaction, whoever makes it.
CREATE TABLE campaign_event (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    public_id    TEXT NOT NULL UNIQUE,
    campaign_id  INTEGER NOT NULL REFERENCES campaign (id),
    at           INTEGER NOT NULL,
    state        TEXT NOT NULL,
    reason       TEXT,
    started_at   INTEGER,
    finished_at  INTEGER,
    expires_at   INTEGER NOT NULL,
    planned_at   INTEGER,
    pending      INTEGER NOT NULL,
    accepted     INTEGER NOT NULL,
    retrying     INTEGER NOT NULL,
    rejected     INTEGER NOT NULL,
    unregistered INTEGER NOT NULL,
    expired      INTEGER NOT NULL,
    filtered     INTEGER NOT NULL,
    cancelled    INTEGER NOT NULL,
    upgraded     INTEGER NOT NULL,
    reasons      TEXT NOT NULL  -- a JSON array of [kind, reason, devices]
) STRICT;
CREATE TRIGGER campaign_began AFTER INSERT ON campaign BEGIN
    INSERT INTO campaign_event (public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at,
            planned_at, pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled,
            upgraded, reasons)
        SELECT lower(hex(randomblob(16))), NEW.id,
            NEW.created_at,
            NEW.state, NEW.reason, NEW.started_at, NEW.finished_at, NEW.expires_at, NEW.planned_at,
            CASE WHEN NEW.finished_at IS NOT NULL THEN 0
                 WHEN NEW.planned_at IS NOT NULL THEN
                    (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s
                     WHERE s.campaign_id = NEW.id AND s.done = 0)
                 ELSE (SELECT a.devices FROM app AS a WHERE a.id = NEW.app_id) END,
            NEW.accepted, NEW.retrying, NEW.rejected, NEW.unregistered, NEW.expired, NEW.filtered,
            NEW.cancelled, NEW.upgraded,
            (SELECT json_group_array(json_array(r.kind, r.reason, r.devices)) FROM campaign_reason AS r
             WHERE r.campaign_id = NEW.id AND r.devices > 0);
END;
CREATE TRIGGER campaign_moved AFTER UPDATE OF state ON campaign WHEN NEW.state <> OLD.state BEGIN
    INSERT INTO campaign_event (public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at,
            planned_at, pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled,
            upgraded, reasons)
        SELECT lower(hex(randomblob(16))), NEW.id,
            coalesce(NEW.finished_at, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
            NEW.state, NEW.reason, NEW.started_at, NEW.finished_at, NEW.expires_at, NEW.planned_at,
            CASE WHEN NEW.finished_at IS NOT NULL THEN 0
                 WHEN NEW.planned_at IS NOT NULL THEN
                    (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s
                     WHERE s.campaign_id = NEW.id AND s.done = 0)
                 ELSE (SELECT a.devices FROM app AS a WHERE a.id = NEW.app_id) END,
            NEW.accepted, NEW.retrying, NEW.rejected, NEW.unregistered, NEW.expired, NEW.filtered,
            NEW.cancelled, NEW.upgraded,
            (SELECT json_group_array(json_array(r.kind, r.reason, r.devices)) FROM campaign_reason AS r
             WHERE r.campaign_id = NEW.id AND r.devices > 0);
END;

-- Who is told, as the configuration says.
CREATE TABLE receiver (
    id         INTEGER PRIMARY KEY,
    url        TEXT NOT NULL UNIQUE,
    states     TEXT NOT NULL CHECK (json_type(states) = 'array'),  -- which it wants to hear of
    cursor     INTEGER NOT NULL,  -- the last event that was addressed to it
    held_until INTEGER,           -- it asked to be left alone until then
    gone_at    INTEGER            -- it answered 410
) STRICT;

CREATE TABLE notification (
    id              INTEGER PRIMARY KEY,
    event_id        INTEGER NOT NULL REFERENCES campaign_event (id),
    receiver_id     INTEGER REFERENCES receiver (id) ON DELETE SET NULL,
    url             TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'dropped')),
    attempts        INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    next_attempt_at INTEGER,
    ended_at        INTEGER,
    CHECK ((next_attempt_at IS NOT NULL) = (state = 'pending')),
    CHECK ((ended_at IS NULL) = (state = 'pending')),
    UNIQUE (event_id, url)
) STRICT;
CREATE INDEX notification_due ON notification (receiver_id, next_attempt_at, event_id) WHERE state = 'pending';
CREATE INDEX notification_ended ON notification (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE notification_attempt (
    notification_id INTEGER NOT NULL REFERENCES notification (id) ON DELETE CASCADE,
    number          INTEGER NOT NULL,
    at              INTEGER NOT NULL,
    milliseconds    INTEGER NOT NULL,
    status          INTEGER,
    error           TEXT,
    PRIMARY KEY (notification_id, number)
) STRICT, WITHOUT ROWID;
