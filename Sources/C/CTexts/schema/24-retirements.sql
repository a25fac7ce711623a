-- step: dead tokens in their order, events of apps
-- in SQLite:
-- Where a dead token stands among those of its app, in the order in which the relay learnt of them: a thousand times the time in
-- milliseconds, and always more than the last one, whatever the clock does. NULL: it is alive, or removed.
ALTER TABLE device ADD COLUMN retired_order INTEGER;
ALTER TABLE app ADD COLUMN retired_last INTEGER NOT NULL DEFAULT 0;  -- the last one that was given
ALTER TABLE app ADD COLUMN retired_told INTEGER NOT NULL DEFAULT 0;  -- up to which there are events
UPDATE device SET retired_order = d.place FROM (
    SELECT id, max(retired_at, 0) * 1000 + row_number() OVER (PARTITION BY app_id ORDER BY retired_at, id) AS place
    FROM device WHERE retired_at IS NOT NULL AND removed_at IS NULL) AS d
    WHERE d.id = device.id;
UPDATE app SET retired_last = coalesce((SELECT max(d.retired_order) FROM device AS d WHERE d.app_id = app.id), 0);
UPDATE app SET retired_told = retired_last;
CREATE INDEX device_retired ON device (app_id, retired_order) WHERE retired_order IS NOT NULL;

-- An event may be of an app, and of no campaign: made anew, with the numbers that it has given.
CREATE TABLE campaign_event_new (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    public_id    TEXT NOT NULL UNIQUE,
    campaign_id  INTEGER REFERENCES campaign (id),  -- NULL: of an app
    at           INTEGER NOT NULL,
    state        TEXT NOT NULL,  -- of the campaign, and the event's name where that is another
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
    reasons      TEXT NOT NULL,  -- a JSON array of [kind, reason, devices]
    in_force     TEXT,
    app_id       INTEGER REFERENCES app (id),
    subject      TEXT,           -- JSON: what it is about
    CHECK ((campaign_id IS NULL) = (app_id IS NOT NULL)),
    CHECK ((app_id IS NULL) = (subject IS NULL))
) STRICT;
INSERT INTO campaign_event_new (id, public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at, planned_at, pending,
        accepted, retrying, rejected, unregistered, expired, filtered, cancelled, upgraded, reasons, in_force)
    SELECT id, public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at, planned_at, pending, accepted,
        retrying, rejected, unregistered, expired, filtered, cancelled, upgraded, reasons, in_force
    FROM campaign_event;
DELETE FROM sqlite_sequence WHERE name = 'campaign_event_new';
INSERT INTO sqlite_sequence (name, seq)
    SELECT 'campaign_event_new', seq FROM sqlite_sequence WHERE name = 'campaign_event';
DROP TABLE campaign_event;
PRAGMA legacy_alter_table = ON;
ALTER TABLE campaign_event_new RENAME TO campaign_event;
PRAGMA legacy_alter_table = OFF;
-- in PostgreSQL:
-- Where a dead token stands among those of its app, in the order in which the relay learnt of them: a thousand times the time in
-- milliseconds, and always more than the last one, whatever the clock does. NULL: it is alive, or removed.
-- Given under the lock of the app's row, as the last thing of a transaction: who reads one sees all before it.
ALTER TABLE device ADD COLUMN retired_order bigint;
ALTER TABLE app ADD COLUMN retired_last bigint NOT NULL DEFAULT 0;  -- the last one that was given
ALTER TABLE app ADD COLUMN retired_told bigint NOT NULL DEFAULT 0;  -- up to which there are events
UPDATE device AS d SET retired_order = o.place FROM (
    SELECT id, greatest(retired_at, 0) * 1000 + row_number() OVER (PARTITION BY app_id ORDER BY retired_at, id) AS place
    FROM device WHERE retired_at IS NOT NULL AND removed_at IS NULL) AS o
    WHERE o.id = d.id;
UPDATE app AS a SET retired_last = coalesce((SELECT max(d.retired_order) FROM device AS d WHERE d.app_id = a.id), 0);
UPDATE app SET retired_told = retired_last;
CREATE INDEX device_retired ON device (app_id, retired_order) WHERE retired_order IS NOT NULL;
-- An event may be of an app, and of no campaign.
ALTER TABLE campaign_event ALTER campaign_id DROP NOT NULL;
ALTER TABLE campaign_event ADD COLUMN app_id bigint REFERENCES app;
ALTER TABLE campaign_event ADD COLUMN subject text;  -- JSON: what it is about
ALTER TABLE campaign_event ADD CHECK ((campaign_id IS NULL) = (app_id IS NOT NULL)), ADD CHECK ((app_id IS NULL) = (subject IS NULL));
