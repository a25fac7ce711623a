-- step: what is in force, beside what is required
-- in SQLite:
-- What every channel says of an app: what its gate has let through of what version asks for. The row of canary = 1 holds
-- for its telephones alone. Written by the relay; other programs write to version.
CREATE TABLE in_force (
    app            TEXT NOT NULL,
    platform       TEXT NOT NULL,
    canary         INTEGER NOT NULL CHECK (canary IN (0, 1)),
    required       TEXT,
    required_build INTEGER,
    latest         TEXT,
    latest_build   INTEGER,
    download_url   TEXT,
    message        TEXT,
    telephones     TEXT CHECK (json_type(telephones) = 'array'),
    since          INTEGER,           -- since when required is in force
    opened_by      TEXT,              -- who put it there: a store's name, noGate, a person
    reason         TEXT,
    changed_at     INTEGER NOT NULL,
    changed_by     TEXT NOT NULL,
    changed_from   TEXT NOT NULL,
    CHECK ((telephones IS NOT NULL) = (canary = 1)),
    PRIMARY KEY (app, platform, canary)
) STRICT, WITHOUT ROWID;
CREATE TABLE in_force_history (
    id             INTEGER PRIMARY KEY,
    app            TEXT NOT NULL,
    platform       TEXT NOT NULL,
    canary         INTEGER NOT NULL,
    required       TEXT,
    required_build INTEGER,
    latest         TEXT,
    latest_build   INTEGER,
    download_url   TEXT,
    message        TEXT,
    telephones     TEXT,
    since          INTEGER,
    opened_by      TEXT,
    reason         TEXT,
    changed_at     INTEGER NOT NULL,
    changed_by     TEXT NOT NULL,
    changed_from   TEXT NOT NULL
) STRICT;
CREATE INDEX in_force_history_of_app ON in_force_history (app, platform, canary, id);
CREATE TRIGGER in_force_inserted AFTER INSERT ON in_force BEGIN
    INSERT INTO in_force_history (app, platform, canary, required, required_build, latest, latest_build, download_url,
            message, telephones, since, opened_by, reason, changed_at, changed_by, changed_from)
        VALUES (NEW.app, NEW.platform, NEW.canary, NEW.required, NEW.required_build, NEW.latest, NEW.latest_build,
            NEW.download_url, NEW.message, NEW.telephones, NEW.since, NEW.opened_by, NEW.reason, NEW.changed_at,
            NEW.changed_by, NEW.changed_from);
END;
CREATE TRIGGER in_force_updated AFTER UPDATE ON in_force BEGIN
    INSERT INTO in_force_history (app, platform, canary, required, required_build, latest, latest_build, download_url,
            message, telephones, since, opened_by, reason, changed_at, changed_by, changed_from)
        VALUES (NEW.app, NEW.platform, NEW.canary, NEW.required, NEW.required_build, NEW.latest, NEW.latest_build,
            NEW.download_url, NEW.message, NEW.telephones, NEW.since, NEW.opened_by, NEW.reason, NEW.changed_at,
            NEW.changed_by, NEW.changed_from);
END;
CREATE TRIGGER in_force_history_is_not_edited BEFORE UPDATE ON in_force_history BEGIN
    SELECT RAISE(ABORT, 'the history of what was in force is not edited');
END;
CREATE TRIGGER in_force_history_is_not_deleted BEFORE DELETE ON in_force_history BEGIN
    SELECT RAISE(ABORT, 'the history of what was in force is not deleted');
END;
INSERT INTO in_force (app, platform, canary, required, required_build, latest, latest_build, download_url, message,
        telephones, since, opened_by, reason, changed_at, changed_by, changed_from)
    SELECT app, platform, 0, iif(telephones IS NULL, required, NULL), iif(telephones IS NULL, required_build, NULL),
        latest, latest_build, download_url, message, NULL,
        iif(telephones IS NULL AND required IS NOT NULL, updated_at, NULL),
        iif(telephones IS NULL AND required IS NOT NULL, 'noGate', NULL), NULL, updated_at, changed_by, 'migration'
    FROM version;
INSERT INTO in_force (app, platform, canary, required, required_build, download_url, message, telephones, since,
        opened_by, changed_at, changed_by, changed_from)
    SELECT app, platform, 1, required, required_build, download_url, message, telephones, updated_at, 'noGate',
        updated_at, changed_by, 'migration'
    FROM version WHERE telephones IS NOT NULL AND required IS NOT NULL;

ALTER TABLE campaign ADD COLUMN required_build INTEGER;
UPDATE campaign SET required_build = (
    SELECT v.required_build FROM version AS v JOIN app AS a ON a.name = v.app AND a.platform = v.platform
    WHERE a.id = campaign.app_id AND v.required = campaign.required);

-- A newer requirement takes the place of an older one when it comes into force: what waits, waits beside it.
DROP INDEX campaign_open;
CREATE INDEX campaign_open ON campaign (app_id) WHERE state NOT IN ('completed', 'cancelled', 'superseded');

-- What was in force at the moment of the event.
ALTER TABLE campaign_event ADD COLUMN in_force TEXT;
CREATE TRIGGER campaign_event_in_force AFTER INSERT ON campaign_event BEGIN
    UPDATE campaign_event SET in_force = (
        SELECT f.required FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            JOIN in_force AS f ON f.app = a.name AND f.platform = a.platform AND f.canary = 0
        WHERE c.id = NEW.campaign_id)
    WHERE id = NEW.id;
END;
