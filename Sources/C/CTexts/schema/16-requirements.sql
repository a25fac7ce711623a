-- step: one record of what is required
-- in SQLite:
-- One record of what is required, in the place of four tables, two histories and a campaign's state.

-- A row for each version that was asked for. What follows from looking at all of an app's (required, latest, in force,
-- superseded) is derived, not stored.
CREATE TABLE requirement (
    id           INTEGER PRIMARY KEY,
    app          TEXT NOT NULL,
    platform     TEXT NOT NULL CHECK (platform IN ('ios', 'android')),
    kind         TEXT NOT NULL CHECK (kind IN ('required', 'latest', 'blocked')),
    version      TEXT NOT NULL,
    version_key  TEXT NOT NULL,     -- sorts as versions do: 2.10 is '0120210', 2.9 '012019', 2 and 2.0.0 '012'
    build        INTEGER,           -- Android's version code of it
    state        TEXT NOT NULL CHECK (state IN ('asked', 'waiting', 'announced', 'in_force', 'withdrawn')),
    reach        INTEGER NOT NULL CHECK (reach BETWEEN 0 AND 10000),  -- 0: its canary, 10000: everybody
    stages       TEXT,              -- the reaches that it has one after the other, such as '100 1000 10000'; NULL: one
    gated        INTEGER NOT NULL CHECK (gated IN (0, 1)),     -- it waits for the app's store, whichever that is
    released     INTEGER NOT NULL CHECK (released IN (0, 1)),  -- a person has overruled the store
    required_from INTEGER,          -- not before this moment
    minimum_os   TEXT,              -- who has an older system cannot obey
    countries    TEXT,              -- where its store offers it; NULL: everywhere
    download_url TEXT CHECK (download_url <> ''),
    message      TEXT,
    canary       INTEGER,           -- how many users it names; NULL: it names nobody
    asked_at     INTEGER NOT NULL,
    in_force_at  INTEGER,           -- since when, the last time
    in_force_by  TEXT,              -- who let it through: a store's name, noGate, a person
    reason       TEXT,
    changed_by   TEXT NOT NULL,
    changed_via  TEXT NOT NULL,
    changed_at   INTEGER NOT NULL,
    CHECK (kind <> 'latest' OR state <> 'in_force'),
    CHECK (state <> 'in_force' OR in_force_at IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX requirement_live ON requirement (app, platform, kind, version_key) WHERE state <> 'withdrawn';
CREATE INDEX requirement_of_app ON requirement (app, platform);

-- The users whom a requirement names. Erased with the user.
CREATE TABLE requirement_canary (
    requirement_id INTEGER NOT NULL REFERENCES requirement (id),
    number         INTEGER NOT NULL,
    telephone      TEXT NOT NULL,
    PRIMARY KEY (requirement_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX requirement_canary_telephone ON requirement_canary (telephone);

-- What is said in other languages than the app's own.
CREATE TABLE requirement_text (
    requirement_id INTEGER NOT NULL REFERENCES requirement (id),
    language       TEXT NOT NULL,
    message        TEXT NOT NULL,
    PRIMARY KEY (requirement_id, language)
) STRICT, WITHOUT ROWID;

-- Each state that a requirement came into, with who brought it there; no telephones.
CREATE TABLE requirement_event (
    id             INTEGER PRIMARY KEY,
    requirement_id INTEGER NOT NULL REFERENCES requirement (id),
    at             INTEGER NOT NULL,
    state          TEXT NOT NULL,
    reach          INTEGER NOT NULL,
    build          INTEGER,
    download_url   TEXT,
    message        TEXT,
    in_force_at    INTEGER,
    in_force_by    TEXT,
    reason         TEXT,
    by             TEXT NOT NULL,
    via            TEXT NOT NULL
) STRICT;
CREATE INDEX requirement_event_of ON requirement_event (requirement_id);
DROP TRIGGER campaign_event_in_force;
DROP TRIGGER campaign_event_canary;
DROP TRIGGER campaign_moved;

-- Keys are texts that sort as versions do, as `Version.sortKey`, for other programs' connections have no functions of ours.
CREATE TABLE past AS SELECT *, iif(required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) AS rk, iif(latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) AS lk FROM version_history;
CREATE TABLE forced AS SELECT *, iif(required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) AS rk, iif(latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) AS lk FROM in_force_history;
CREATE INDEX past_of ON past (app, platform, revision);
CREATE INDEX forced_of ON forced (app, platform, canary, rk);
CREATE TABLE rise (id INTEGER PRIMARY KEY, revision INTEGER NOT NULL, telephones TEXT);

-- 1. Each rise of required is a requirement; so is each rise of latest that no requirement brought along. A code that did
-- not change is nobody's.
CREATE TABLE risen AS
    SELECT app, platform, 'required' AS kind, required AS version, rk AS k,
        iif(required_build IS pb, NULL, required_build) AS build, download_url, message, telephones, updated_at,
        changed_by, changed_from, revision
    FROM (SELECT *, lag(rk) OVER w AS p, lag(required_build) OVER w AS pb FROM past
          WINDOW w AS (PARTITION BY app, platform ORDER BY revision))
    WHERE required IS NOT NULL AND changed_from <> 'withdraw' AND (p IS NULL OR rk > p)
    UNION ALL
    SELECT app, platform, 'latest', latest, lk, iif(latest_build IS pb, NULL, latest_build), download_url, message,
        NULL, updated_at, changed_by, changed_from, revision
    FROM (SELECT *, lag(lk) OVER w AS p, lag(latest_build) OVER w AS pb FROM past
          WINDOW w AS (PARTITION BY app, platform ORDER BY revision))
    WHERE latest IS NOT NULL AND changed_from <> 'withdraw' AND (p IS NULL OR lk > p) AND lk IS NOT rk;
-- A version that was asked for again without having been taken back counts once.
INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released, download_url,
        message, canary, asked_at, changed_by, changed_via, changed_at, reason)
    SELECT app, platform, kind, version, k, build, 'withdrawn', 10000, 1, 0, download_url, message,
        iif(telephones IS NULL, NULL, json_array_length(telephones)), updated_at, changed_by, changed_from, updated_at,
        CAST(revision AS TEXT)
    FROM risen ORDER BY app, platform, revision, kind;
INSERT INTO rise (id, revision, telephones)
    SELECT r.id, CAST(r.reason AS INTEGER),
        (SELECT p.telephones FROM past AS p WHERE p.app = r.app AND p.platform = r.platform
         AND p.revision = CAST(r.reason AS INTEGER) AND r.kind = 'required')
    FROM requirement AS r;
UPDATE requirement SET reason = NULL;

-- 2. What a later entry is below of was withdrawn by it; of what is left of one version the newest counts.
CREATE TABLE taken AS
    SELECT r.id, e.changed_by, e.changed_from, e.updated_at,
        row_number() OVER (PARTITION BY r.id ORDER BY e.revision) AS n
    FROM requirement AS r JOIN rise AS s ON s.id = r.id JOIN past AS e ON e.app = r.app AND e.platform = r.platform
        AND e.revision > s.revision AND coalesce(iif(r.kind = 'required', e.rk, e.lk) < r.version_key, 1);
UPDATE requirement SET state = 'waiting' WHERE id IN (
    SELECT max(id) FROM requirement WHERE id NOT IN (SELECT id FROM taken) GROUP BY app, platform, kind, version_key);
UPDATE requirement SET changed_by = t.changed_by, changed_via = t.changed_from, changed_at = t.updated_at
    FROM taken AS t WHERE t.id = requirement.id AND t.n = 1;

-- 3. Of one version the newest campaign is of the newest rise, and so on back: by time a clock that was set back would link
-- wrongly.
CREATE TABLE campaign_of AS
    SELECT o.id AS campaign_id, r.id AS requirement_id FROM
        (SELECT id, app, platform, version_key,
            row_number() OVER (PARTITION BY app, platform, version_key ORDER BY id DESC) AS n
         FROM requirement WHERE kind = 'required') AS r
        JOIN (SELECT c.id, a.name, a.platform, iif(c.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(c.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(c.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) AS k,
                row_number() OVER (PARTITION BY c.app_id, iif(c.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(c.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(c.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) ORDER BY c.id DESC) AS n
              FROM campaign AS c JOIN app AS a ON a.id = c.app_id) AS o
        ON o.name = r.app AND o.platform = r.platform AND o.k = r.version_key AND o.n = r.n;
-- One that is of no rise that anybody knows.
INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released, download_url,
        message, asked_at, changed_by, changed_via, changed_at, reason)
    SELECT a.name, a.platform, 'required', c.required, iif(c.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(c.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(c.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))), c.required_build, 'withdrawn', 10000, 1, 0,
        c.download_url, c.message, c.created_at, 'unknown', 'migration', c.created_at, 'campaign ' || c.id
    FROM campaign AS c JOIN app AS a ON a.id = c.app_id
    WHERE c.id NOT IN (SELECT campaign_id FROM campaign_of) ORDER BY c.id;
INSERT INTO campaign_of (campaign_id, requirement_id)
    SELECT CAST(substr(reason, 10) AS INTEGER), id FROM requirement WHERE reason LIKE 'campaign %';
UPDATE requirement SET reason = NULL WHERE reason LIKE 'campaign %';
-- 4. In force for everybody once, and not above what is so now. Above: halted, or never let through.
UPDATE requirement AS r SET state = 'in_force', in_force_at = (SELECT min(h.changed_at) FROM forced AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 0 AND h.rk = r.version_key)
    WHERE kind = 'required' AND state = 'waiting' AND (SELECT min(h.changed_at) FROM forced AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 0 AND h.rk = r.version_key) IS NOT NULL
        AND version_key <= (SELECT iif(h.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(h.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(h.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) FROM in_force AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 0);
-- The one that is so now, with who let it through.
UPDATE requirement AS r SET in_force_at = coalesce(h.since, r.in_force_at), in_force_by = h.opened_by,
        reason = h.reason, download_url = h.download_url, message = h.message,
        build = coalesce(r.build, h.required_build)
    FROM in_force AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 0 AND r.kind = 'required' AND r.state = 'in_force'
        AND r.version_key = iif(h.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(h.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(h.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key)));
-- 5. For its canary alone.
UPDATE requirement AS r SET state = 'in_force', reach = 0, in_force_at = h.since, in_force_by = h.opened_by,
        canary = json_array_length(h.telephones)
    FROM in_force AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 1
        AND r.kind = 'required' AND r.state = 'waiting' AND r.version_key = iif(h.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(h.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(h.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key)));
UPDATE rise SET telephones = h.telephones
    FROM requirement AS r JOIN in_force AS h ON h.app = r.app AND h.platform = r.platform AND h.canary = 1
    WHERE r.id = rise.id AND r.kind = 'required' AND r.state = 'in_force' AND r.reach = 0;
UPDATE requirement SET reach = 0 WHERE state = 'waiting' AND canary IS NOT NULL;
-- 6. Cancelled before that or after a halt, or a canary that came to its end: taken back.
UPDATE requirement AS r SET state = 'withdrawn', changed_via = 'migration',
        reason = 'its campaign ended before it was in force for everybody'
    WHERE kind = 'required' AND (state = 'waiting' OR state = 'in_force' AND reach = 0) AND EXISTS (
        SELECT 1 FROM campaign_of AS o JOIN campaign AS c ON c.id = o.campaign_id WHERE o.requirement_id = r.id
            AND (c.state = 'cancelled' AND (r.state = 'waiting' OR (SELECT min(h.changed_at) FROM forced AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 0 AND h.rk = r.version_key) IS NULL)
                 OR c.canary = 'alone' AND c.state IN ('completed', 'superseded', 'cancelled')));
-- 7. Announced.
UPDATE requirement AS r SET state = 'announced' WHERE kind = 'latest' AND state = 'waiting'
    AND version_key <= (SELECT iif(h.latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(h.latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(h.latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) FROM in_force AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 0);
UPDATE requirement AS r SET download_url = h.latest_url, message = h.latest_message,
        build = coalesce(r.build, h.latest_build)
    FROM in_force AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 0 AND r.kind = 'latest' AND r.state = 'announced'
        AND r.version_key = iif(h.latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(h.latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(h.latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key)));
UPDATE requirement AS r SET state = 'announced' WHERE kind = 'required' AND state = 'waiting' AND reach = 10000
    AND version_key <= (SELECT iif(h.latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(h.latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(h.latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) FROM in_force AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 0)
    AND (SELECT min(h.changed_at) FROM forced AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 0 AND h.rk = r.version_key) IS NULL;
-- 8. A person's release is a person's; what nobody held back waits for no store.
UPDATE requirement AS r SET released = 1 WHERE state = 'in_force' AND reach = 10000 AND EXISTS (
    SELECT 1 FROM forced AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 0 AND h.rk = r.version_key AND h.changed_from = 'release');
UPDATE requirement SET gated = 0 WHERE state = 'in_force' AND coalesce(in_force_by, 'noGate') = 'noGate';
UPDATE requirement AS r SET reason = c.reason FROM campaign_of AS o JOIN campaign AS c ON c.id = o.campaign_id
    WHERE o.requirement_id = r.id AND r.state = 'withdrawn' AND c.state = 'cancelled' AND c.reason IS NOT NULL;
UPDATE requirement AS r SET reason = c.reason FROM campaign_of AS o JOIN campaign AS c ON c.id = o.campaign_id
    WHERE o.requirement_id = r.id AND r.state = 'waiting' AND c.state = 'suspended';
INSERT INTO requirement_canary (requirement_id, number, telephone)
    SELECT r.id, t.key, t.value FROM requirement AS r JOIN rise AS s ON s.id = r.id JOIN json_each(s.telephones) AS t
    WHERE r.canary IS NOT NULL AND r.state <> 'withdrawn';
-- Over, and not by its own end: it goes on when what took its place is taken back. Who was left out has no outcome.
CREATE TABLE left_out AS
    SELECT c.id, (SELECT count(*) = 2 AND sum(s.cursor) = 0 AND max(s.number) = 1 AND max(s.environment) = 1
                  FROM shard AS s WHERE s.campaign_id = c.id AND s.rest = 8) AS unplanned,
        (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s
         WHERE s.campaign_id = c.id AND s.done = 1 AND s.rest = 8) AS devices,
        (SELECT max(s.last) FROM shard AS s WHERE s.campaign_id = c.id AND s.rest = 8) AS last
    FROM campaign AS c WHERE c.state IN ('superseded', 'cancelled') AND c.pruned_at IS NULL;
CREATE TABLE campaign_new (id                 INTEGER PRIMARY KEY,
    public_id          TEXT NOT NULL UNIQUE CHECK (length(public_id) = 12 AND public_id NOT GLOB '*[^0-9a-f]*'),
    app_id             INTEGER NOT NULL REFERENCES app (id),
    requirement_id     INTEGER NOT NULL UNIQUE REFERENCES requirement (id),  -- one requirement, one campaign
    required           TEXT NOT NULL,     -- as it was written
    latest             TEXT,
    download_url       TEXT NOT NULL CHECK (download_url <> ''),
    message            TEXT,
    -- What was decided of the campaign itself.
    paused_at          INTEGER,
    paused_by          TEXT,
    cause              TEXT,              -- why the relay stopped it
    cause_text         TEXT,
    ended              TEXT CHECK (ended IN ('completed', 'cancelled')),
    time_to_live       INTEGER NOT NULL,  -- from the beginning of a stage until nothing is sent any more
    time_left          INTEGER,           -- what is left of it while it does not run
    -- What is shown, by all that is known of the campaign and of its requirement. It decides nothing.
    state              TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'paused', 'suspended', 'completed',
                                                      'cancelled', 'superseded')),
    reason             TEXT,
    created_at         INTEGER NOT NULL,
    started_at         INTEGER,
    finished_at        INTEGER,
    expires_at         INTEGER NOT NULL,
    planned_at         INTEGER,           -- when the audience was cut into shards
    -- Of one that is over before that: whom it left out, so many devices up to this one.
    left_devices       INTEGER,
    left_last          INTEGER,
    canary_ended_at    INTEGER,           -- when the last device of the named users had its outcome
    pruned_at          INTEGER,           -- when pruning began to take its deliveries away; its counts stay
    -- How many devices are in which state. Pending is the sum of shard.remaining, before planning app.devices. Of one
    -- that is cancelled or superseded, who is pending or retrying is shown as cancelled.
    accepted           INTEGER NOT NULL DEFAULT 0 CHECK (accepted >= 0),
    retrying           INTEGER NOT NULL DEFAULT 0 CHECK (retrying >= 0),
    rejected           INTEGER NOT NULL DEFAULT 0 CHECK (rejected >= 0),
    unregistered       INTEGER NOT NULL DEFAULT 0 CHECK (unregistered >= 0),
    expired            INTEGER NOT NULL DEFAULT 0 CHECK (expired >= 0),
    filtered           INTEGER NOT NULL DEFAULT 0 CHECK (filtered >= 0),
    cancelled          INTEGER NOT NULL DEFAULT 0 CHECK (cancelled >= 0),
    -- How `upgraded` has come about: beside each other, not within.
    upgraded           INTEGER NOT NULL DEFAULT 0 CHECK (upgraded >= 0),
    upgraded_push      INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_push >= 0),
    upgraded_login     INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_login >= 0),
    upgraded_both      INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_both >= 0),
    told               INTEGER NOT NULL DEFAULT 0 CHECK (told >= 0),  -- devices that were told at login, each once
    CHECK ((finished_at IS NOT NULL) = (state IN ('completed', 'cancelled', 'superseded')))) STRICT;
-- What a halt had stopped waits; also where somebody had resumed it, since nobody may be told.
INSERT INTO campaign_new (id, public_id, app_id, requirement_id, required, latest, download_url, message, state, reason,
        paused_at, cause, cause_text, ended, created_at, started_at, finished_at, expires_at, time_left, time_to_live,
        planned_at, left_devices, left_last, canary_ended_at, pruned_at, accepted, retrying, rejected, unregistered, expired,
        filtered, cancelled, upgraded, upgraded_push, upgraded_login, upgraded_both, told)
    SELECT c.id, c.public_id, c.app_id, r.id, c.required, c.latest, c.download_url, c.message,
        iif(r.state = 'waiting' AND c.state IN ('running', 'suspended'), 'waiting', c.state), c.reason,
        iif(c.state = 'paused', coalesce(c.started_at, c.created_at), NULL),
        CASE WHEN c.state <> 'suspended' OR r.state <> 'in_force' THEN NULL
    WHEN c.reason LIKE 'WaveDone%' THEN 'approval' WHEN c.reason LIKE 'WaveFailed%' THEN 'stageFailed'
    WHEN c.reason LIKE 'PayloadTooLarge%' THEN 'payload' WHEN c.reason LIKE 'StoreConflict%' THEN 'store'
    WHEN c.reason LIKE '%none was given up%' THEN 'deadTokens'
    ELSE 'credential' END, iif(CASE WHEN c.state <> 'suspended' OR r.state <> 'in_force' THEN NULL
    WHEN c.reason LIKE 'WaveDone%' THEN 'approval' WHEN c.reason LIKE 'WaveFailed%' THEN 'stageFailed'
    WHEN c.reason LIKE 'PayloadTooLarge%' THEN 'payload' WHEN c.reason LIKE 'StoreConflict%' THEN 'store'
    WHEN c.reason LIKE '%none was given up%' THEN 'deadTokens'
    ELSE 'credential' END IS NULL, NULL, c.reason),
        CASE WHEN c.state = 'completed' THEN 'completed'
             WHEN c.state = 'cancelled' AND r.state <> 'withdrawn' THEN 'cancelled' END,
        c.created_at, c.started_at, c.finished_at, c.expires_at,
        iif(iif(r.state = 'waiting' AND c.state IN ('running', 'suspended'), 'waiting', c.state) = 'running', NULL, max(c.expires_at - coalesce(c.finished_at, c.started_at, c.created_at), 0)),
        max(c.expires_at - coalesce(c.started_at, c.created_at), 1000),
        iif(l.unplanned, NULL, c.planned_at), iif(l.unplanned, l.devices, NULL), iif(l.unplanned, l.last, NULL),
        c.canary_ended_at, c.pruned_at, c.accepted, c.retrying, c.rejected, c.unregistered, c.expired, c.filtered,
        c.cancelled - coalesce(l.devices, 0), c.upgraded, c.upgraded_push, c.upgraded_login, c.upgraded_both, c.told
    FROM campaign AS c JOIN campaign_of AS o ON o.campaign_id = c.id JOIN requirement AS r ON r.id = o.requirement_id
        LEFT JOIN left_out AS l ON l.id = c.id;
DELETE FROM shard WHERE campaign_id IN (SELECT id FROM left_out WHERE unplanned) AND rest = 8;
UPDATE shard SET done = 0, rest = NULL WHERE rest = 8 AND campaign_id IN (SELECT id FROM left_out);
DROP TABLE campaign;
ALTER TABLE campaign_new RENAME TO campaign;
CREATE INDEX campaign_of_app ON campaign (app_id);
CREATE INDEX campaign_open ON campaign (app_id) WHERE state NOT IN ('completed', 'cancelled', 'superseded');
CREATE TRIGGER campaign_began AFTER INSERT ON campaign BEGIN
    INSERT INTO campaign_event (public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at,
            planned_at, pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled,
            upgraded, reasons, in_force)
        SELECT lower(hex(randomblob(16))), NEW.id, NEW.created_at, NEW.state, NEW.reason, NEW.started_at, NEW.finished_at,
            NEW.expires_at, NEW.planned_at,
            iif(NEW.finished_at IS NOT NULL, 0, CASE WHEN NEW.left_devices IS NOT NULL THEN NEW.left_devices
     WHEN NEW.planned_at IS NOT NULL THEN
        (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s WHERE s.campaign_id = NEW.id AND s.done = 0)
     ELSE (SELECT p.devices FROM app AS p WHERE p.id = NEW.app_id) - iif((SELECT q.canary FROM requirement AS q WHERE q.id = NEW.requirement_id) IS NULL, 0,
    (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
     WHERE r.campaign_id = NEW.id AND v.removed_at IS NULL)) END), NEW.accepted,
            iif((NEW.state IN ('cancelled', 'superseded') AND NEW.pruned_at IS NULL), 0, NEW.retrying), NEW.rejected, NEW.unregistered, NEW.expired, NEW.filtered,
            NEW.cancelled + iif((NEW.state IN ('cancelled', 'superseded') AND NEW.pruned_at IS NULL), NEW.retrying + CASE WHEN NEW.left_devices IS NOT NULL THEN NEW.left_devices
     WHEN NEW.planned_at IS NOT NULL THEN
        (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s WHERE s.campaign_id = NEW.id AND s.done = 0)
     ELSE (SELECT p.devices FROM app AS p WHERE p.id = NEW.app_id) - iif((SELECT q.canary FROM requirement AS q WHERE q.id = NEW.requirement_id) IS NULL, 0,
    (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
     WHERE r.campaign_id = NEW.id AND v.removed_at IS NULL)) END, 0), NEW.upgraded,
            (SELECT json_group_array(json_array(r.kind, r.reason, r.devices)) FROM campaign_reason AS r
             WHERE r.campaign_id = NEW.id AND r.devices > 0),
            (SELECT r.version FROM requirement AS r JOIN app AS a ON a.name = r.app AND a.platform = r.platform
             WHERE a.id = NEW.app_id AND r.kind = 'required' AND r.state = 'in_force' AND r.reach = 10000
             ORDER BY r.version_key DESC LIMIT 1);
END;
CREATE TRIGGER campaign_moved AFTER UPDATE OF state ON campaign WHEN NEW.state <> OLD.state BEGIN
    INSERT INTO campaign_event (public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at,
            planned_at, pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled,
            upgraded, reasons, in_force)
        SELECT lower(hex(randomblob(16))), NEW.id, coalesce(NEW.finished_at, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)), NEW.state, NEW.reason, NEW.started_at, NEW.finished_at,
            NEW.expires_at, NEW.planned_at,
            iif(NEW.finished_at IS NOT NULL, 0, CASE WHEN NEW.left_devices IS NOT NULL THEN NEW.left_devices
     WHEN NEW.planned_at IS NOT NULL THEN
        (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s WHERE s.campaign_id = NEW.id AND s.done = 0)
     ELSE (SELECT p.devices FROM app AS p WHERE p.id = NEW.app_id) - iif((SELECT q.canary FROM requirement AS q WHERE q.id = NEW.requirement_id) IS NULL, 0,
    (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
     WHERE r.campaign_id = NEW.id AND v.removed_at IS NULL)) END), NEW.accepted,
            iif((NEW.state IN ('cancelled', 'superseded') AND NEW.pruned_at IS NULL), 0, NEW.retrying), NEW.rejected, NEW.unregistered, NEW.expired, NEW.filtered,
            NEW.cancelled + iif((NEW.state IN ('cancelled', 'superseded') AND NEW.pruned_at IS NULL), NEW.retrying + CASE WHEN NEW.left_devices IS NOT NULL THEN NEW.left_devices
     WHEN NEW.planned_at IS NOT NULL THEN
        (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s WHERE s.campaign_id = NEW.id AND s.done = 0)
     ELSE (SELECT p.devices FROM app AS p WHERE p.id = NEW.app_id) - iif((SELECT q.canary FROM requirement AS q WHERE q.id = NEW.requirement_id) IS NULL, 0,
    (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
     WHERE r.campaign_id = NEW.id AND v.removed_at IS NULL)) END, 0), NEW.upgraded,
            (SELECT json_group_array(json_array(r.kind, r.reason, r.devices)) FROM campaign_reason AS r
             WHERE r.campaign_id = NEW.id AND r.devices > 0),
            (SELECT r.version FROM requirement AS r JOIN app AS a ON a.name = r.app AND a.platform = r.platform
             WHERE a.id = NEW.app_id AND r.kind = 'required' AND r.state = 'in_force' AND r.reach = 10000
             ORDER BY r.version_key DESC LIMIT 1);
END;
INSERT INTO requirement_event (requirement_id, at, state, reach, build, download_url, message, in_force_at, in_force_by,
        reason, by, via)
    SELECT id, at, state, reach, build, download_url, message, since, opened, reason, by, via FROM (
        SELECT r.id, r.asked_at AS at, 0 AS n, 'waiting' AS state, r.reach, r.build, r.download_url, r.message,
            NULL AS since, NULL AS opened, NULL AS reason,
            coalesce(p.changed_by, 'unknown') AS by, coalesce(p.changed_from, 'migration') AS via
        FROM requirement AS r LEFT JOIN rise AS s ON s.id = r.id
            LEFT JOIN past AS p ON p.app = r.app AND p.platform = r.platform AND p.revision = s.revision
        UNION ALL
        SELECT r.id, coalesce(r.in_force_at, r.asked_at), 1, r.state, r.reach, r.build, r.download_url, r.message,
            r.in_force_at, r.in_force_by, r.reason, coalesce(r.in_force_by, r.changed_by), 'migration'
        FROM requirement AS r WHERE r.state IN ('in_force', 'announced')
        UNION ALL
        SELECT r.id, r.changed_at, 2, r.state, r.reach, r.build, r.download_url, r.message, r.in_force_at,
            r.in_force_by, r.reason, r.changed_by, r.changed_via
        FROM requirement AS r WHERE r.state = 'withdrawn')
    ORDER BY at, id, n;
DROP TABLE in_force;
DROP TABLE in_force_history;
DROP TABLE version;
DROP TABLE version_history;
DROP TABLE past;
DROP TABLE forced;
DROP TABLE rise;
DROP TABLE risen;
DROP TABLE taken;
DROP TABLE campaign_of;
DROP TABLE left_out;
-- The CHECKs: what `Version.init` accepts, but for the 18 digits, which a CHECK cannot count. True for NULL. The two lengths differ
-- where a NUL byte hides the rest of the text from GLOB.
CREATE TABLE version (
    app            TEXT NOT NULL CHECK (app <> ''),
    platform       TEXT NOT NULL CHECK (platform IN ('ios', 'android')),
    latest         TEXT CONSTRAINT "latest is a version such as 2.1.0" CHECK (latest GLOB '[0-9]*' AND latest GLOB '*[0-9]' AND latest NOT GLOB '*[^0-9.]*' AND latest NOT GLOB '*..*' AND length(latest) <= 64 AND length(CAST(latest AS BLOB)) = length(latest)),
    required       TEXT CONSTRAINT "required is a version such as 2.1.0" CHECK (required GLOB '[0-9]*' AND required GLOB '*[0-9]' AND required NOT GLOB '*[^0-9.]*' AND required NOT GLOB '*..*' AND length(required) <= 64 AND length(CAST(required AS BLOB)) = length(required)),
    latest_build   INTEGER CHECK (latest_build BETWEEN 1 AND 2147483647),
    required_build INTEGER CHECK (required_build BETWEEN 1 AND 2147483647),
    download_url   TEXT CHECK (download_url <> ''),  -- NULL: the one of the configuration
    message        TEXT,
    -- A JSON array of the users whom a rise of required is for first: set it together with required. Read as NULL.
    telephones     TEXT CHECK (json_type(telephones) = 'array'),
    changed_by     TEXT NOT NULL DEFAULT 'unknown',  -- set it, and the history says who asked
    changed_from   TEXT NOT NULL DEFAULT 'database',
    revision       INTEGER NOT NULL DEFAULT 0,       -- rises with each change; leave it alone
    updated_at     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (app, platform)
) STRICT;
-- What is derived of each app: the highest requirement, the newest version that users are, or are to be, told of, and the
-- texts of whichever of the two was asked for last.
CREATE VIEW version_now AS
    SELECT a.app, a.platform, q.id AS required_id, q.version AS required, q.version_key AS required_key,
        q.build AS required_build, l.id AS latest_id, l.version AS latest, l.version_key AS latest_key,
        l.build AS latest_build, t.download_url, t.message
    FROM (SELECT DISTINCT app, platform FROM requirement) AS a
    LEFT JOIN requirement AS q ON q.id = (
        SELECT r.id FROM requirement AS r WHERE r.app = a.app AND r.platform = a.platform AND r.kind = 'required'
            AND r.state <> 'withdrawn' ORDER BY r.version_key DESC LIMIT 1)
    LEFT JOIN requirement AS l ON l.id = (
        SELECT r.id FROM requirement AS r WHERE r.app = a.app AND r.platform = a.platform AND r.kind <> 'blocked'
            AND r.state <> 'withdrawn'
        ORDER BY r.version_key DESC, coalesce(r.build, 0) DESC, r.kind DESC LIMIT 1)
    LEFT JOIN requirement AS t ON t.id = max(coalesce(q.id, 0), coalesce(l.id, 0));
INSERT INTO version (app, platform, required, latest, required_build, latest_build, download_url, message, changed_by,
        changed_from, revision, updated_at)
    SELECT app, platform, required, latest, required_build, latest_build, download_url, message, 'migration', 'migration',
        (SELECT max(id) FROM requirement_event),
        (SELECT max(r.changed_at) FROM requirement AS r WHERE r.app = n.app AND r.platform = n.platform)
    FROM version_now AS n;
CREATE TRIGGER requirement_rises BEFORE INSERT ON requirement WHEN NEW.kind <> 'blocked' BEGIN
    SELECT RAISE(ABORT, 'versions only rise') WHERE EXISTS (
        SELECT 1 FROM requirement AS r WHERE r.app = NEW.app AND r.platform = NEW.platform
            AND r.state IN ('waiting', 'announced', 'in_force') AND r.version_key > NEW.version_key
            AND r.kind = NEW.kind);
END;
CREATE TRIGGER requirement_moves BEFORE UPDATE ON requirement BEGIN
    SELECT RAISE(ABORT, 'what was withdrawn is asked for anew')
        WHERE OLD.state = 'withdrawn' AND NEW.state <> 'withdrawn';
    SELECT RAISE(ABORT, 'a requirement is taken up once') WHERE NEW.state = 'asked' AND OLD.state <> 'asked';
    SELECT RAISE(ABORT, 'a requirement keeps its version')
        WHERE NEW.version <> OLD.version OR NEW.version_key <> OLD.version_key OR NEW.app <> OLD.app
            OR NEW.platform <> OLD.platform OR NEW.kind <> OLD.kind OR NEW.id <> OLD.id;
END;
CREATE TRIGGER requirement_is_not_deleted BEFORE DELETE ON requirement BEGIN
    SELECT RAISE(ABORT, 'requirements are not deleted: they are withdrawn');
END;
CREATE TRIGGER requirement_event_is_not_edited BEFORE UPDATE ON requirement_event BEGIN
    SELECT RAISE(ABORT, 'the history of requirements is not edited');
END;
CREATE TRIGGER requirement_event_is_not_deleted BEFORE DELETE ON requirement_event BEGIN
    SELECT RAISE(ABORT, 'the history of requirements is not deleted');
END;
CREATE TRIGGER requirement_inserted AFTER INSERT ON requirement BEGIN
    INSERT INTO requirement_event (requirement_id, at, state, reach, build, download_url, message, in_force_at, in_force_by,
        reason, by, via)
    VALUES (NEW.id, NEW.changed_at, NEW.state, NEW.reach, NEW.build, NEW.download_url, NEW.message, NEW.in_force_at,
        NEW.in_force_by, NEW.reason, NEW.changed_by, NEW.changed_via);
    INSERT INTO version (app, platform, required, latest, required_build, latest_build, download_url, message, changed_by,
            changed_from, revision, updated_at)
        SELECT n.app, n.platform, n.required, n.latest, n.required_build, n.latest_build, n.download_url, n.message,
            NEW.changed_by, NEW.changed_via, coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0), NEW.changed_at
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
            AND NOT EXISTS (SELECT 1 FROM version AS v WHERE v.app = NEW.app AND v.platform = NEW.platform);
    UPDATE version SET required = n.required, latest = n.latest, required_build = n.required_build,
            latest_build = n.latest_build, download_url = n.download_url, message = n.message, telephones = NULL,
            changed_by = NEW.changed_by, changed_from = NEW.changed_via,
            revision = coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0), updated_at = NEW.changed_at
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
            AND version.app = NEW.app AND version.platform = NEW.platform;
END;
CREATE TRIGGER requirement_updated AFTER UPDATE ON requirement BEGIN
    INSERT INTO requirement_event (requirement_id, at, state, reach, build, download_url, message, in_force_at, in_force_by,
        reason, by, via)
    VALUES (NEW.id, NEW.changed_at, NEW.state, NEW.reach, NEW.build, NEW.download_url, NEW.message, NEW.in_force_at,
        NEW.in_force_by, NEW.reason, NEW.changed_by, NEW.changed_via);
    INSERT INTO version (app, platform, required, latest, required_build, latest_build, download_url, message, changed_by,
            changed_from, revision, updated_at)
        SELECT n.app, n.platform, n.required, n.latest, n.required_build, n.latest_build, n.download_url, n.message,
            NEW.changed_by, NEW.changed_via, coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0), NEW.changed_at
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
            AND NOT EXISTS (SELECT 1 FROM version AS v WHERE v.app = NEW.app AND v.platform = NEW.platform);
    UPDATE version SET required = n.required, latest = n.latest, required_build = n.required_build,
            latest_build = n.latest_build, download_url = n.download_url, message = n.message, telephones = NULL,
            changed_by = NEW.changed_by, changed_from = NEW.changed_via,
            revision = coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0), updated_at = NEW.changed_at
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
            AND version.app = NEW.app AND version.platform = NEW.platform;
END;
-- The table `version` is another program's door. It mirrors what is derived from `requirement`, and may be written to with plain SQL:
-- UPDATE version SET required = '2.0.0' WHERE app = 'com.example.app' AND platform = 'ios'
--
-- A table and not a view: of an UPDATE of a view SQLite reports 0 rows, and it refuses ON CONFLICT. Whoever raises a version here has
-- asked for it; the relay takes it up. Whoever lets one fall, takes it back to NULL, deletes or renames the row is refused.
-- It makes no difference whether that connection has recursive triggers: each trigger changes nothing where the row says already
-- what is derived.
--
-- - INSERT OR REPLACE takes the old row away without a word; the requirements still know it.
-- - A version above what is derived is asked for. What the statement did not change is not this version's.
-- - Who made an update: somebody else than the last one, or nobody says.
-- - At the end the row says what is derived, whatever the statement wrote: another spelling, telephones, a number of its own.
CREATE TRIGGER version_is_not_deleted BEFORE DELETE ON version BEGIN
    SELECT RAISE(ABORT, 'versions only rise: a version row is never deleted');
END;
CREATE TRIGGER version_inserted AFTER INSERT ON version BEGIN
    SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
        WHERE EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18)
            OR EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18);
    SELECT RAISE(ABORT, 'versions only rise: required would fall') FROM version_now AS n
        WHERE n.app = NEW.app AND n.platform = NEW.platform AND n.required_key IS NOT NULL
            AND coalesce(iif(NEW.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) < n.required_key, 1);
    SELECT RAISE(ABORT, 'versions only rise: latest would fall') FROM version_now AS n
        WHERE n.app = NEW.app AND n.platform = NEW.platform AND NEW.latest IS NOT NULL AND n.latest_key IS NOT NULL
            AND coalesce(iif(NEW.latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) < n.latest_key, 1);
    SELECT RAISE(ABORT, 'version codes only rise: required_build would fall') FROM version_now AS n
        WHERE n.app = NEW.app AND n.platform = NEW.platform AND NEW.required_build IS NOT NULL AND n.required_build IS NOT NULL
            AND coalesce(NEW.required_build < n.required_build, 1);
    SELECT RAISE(ABORT, 'version codes only rise: latest_build would fall') FROM version_now AS n
        WHERE n.app = NEW.app AND n.platform = NEW.platform AND NEW.latest_build IS NOT NULL AND n.latest_build IS NOT NULL
            AND coalesce(NEW.latest_build < n.latest_build, 1);
    INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released,
            download_url, message, canary, asked_at, changed_by, changed_via, changed_at)
        SELECT NEW.app, NEW.platform, 'required', NEW.required, iif(NEW.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))),
            NEW.required_build, 'asked', iif(iif(json_type(NEW.telephones) = 'array', json_array_length(NEW.telephones), NULL) IS NULL, 10000, 0), 1, 0,
            NEW.download_url, NEW.message, iif(json_type(NEW.telephones) = 'array', json_array_length(NEW.telephones), NULL), CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), NEW.changed_by,
            'database', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
        WHERE NEW.required IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform AND n.required_key >= iif(NEW.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))));
    INSERT INTO requirement_canary (requirement_id, number, telephone)
        SELECT n.required_id, t.key, t.value FROM version_now AS n
            JOIN requirement AS r ON r.id = n.required_id AND r.state = 'asked' AND r.canary IS NOT NULL
            JOIN json_each(NEW.telephones) AS t
        WHERE n.app = NEW.app AND n.platform = NEW.platform AND NOT EXISTS (SELECT 1 FROM requirement_canary AS c WHERE c.requirement_id = n.required_id);
    INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released,
            download_url, message, canary, asked_at, changed_by, changed_via, changed_at)
        SELECT NEW.app, NEW.platform, 'latest', NEW.latest, iif(NEW.latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))),
            NEW.latest_build, 'asked', 10000, 1, 0,
            NEW.download_url, NEW.message, NULL, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), NEW.changed_by,
            'database', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
        WHERE NEW.latest IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform AND n.latest_key >= iif(NEW.latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))));
    UPDATE version SET required = n.required, latest = n.latest, required_build = n.required_build,
            latest_build = n.latest_build, download_url = n.download_url, message = n.message, telephones = NULL,
            revision = coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0)
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform AND version.app = NEW.app AND version.platform = NEW.platform
            AND (version.required IS NOT n.required OR version.latest IS NOT n.latest
                 OR version.required_build IS NOT n.required_build OR version.latest_build IS NOT n.latest_build
                 OR version.download_url IS NOT n.download_url OR version.message IS NOT n.message
                 OR version.telephones IS NOT NULL OR version.revision <> coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0));
END;
CREATE TRIGGER version_updated AFTER UPDATE ON version BEGIN
    SELECT RAISE(ABORT, 'a version row keeps its app and platform')
        WHERE NEW.app <> OLD.app OR NEW.platform <> OLD.platform;
    SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
        WHERE EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18)
            OR EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18);
    SELECT RAISE(ABORT, 'versions only rise: required would fall') FROM version_now AS n
        WHERE n.app = NEW.app AND n.platform = NEW.platform AND NEW.required IS NOT OLD.required AND n.required_key IS NOT NULL
            AND coalesce(iif(NEW.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) < n.required_key, 1);
    SELECT RAISE(ABORT, 'versions only rise: latest would fall') FROM version_now AS n
        WHERE n.app = NEW.app AND n.platform = NEW.platform AND NEW.latest IS NOT OLD.latest AND n.latest_key IS NOT NULL
            AND coalesce(iif(NEW.latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))) < n.latest_key, 1);
    SELECT RAISE(ABORT, 'version codes only rise: required_build would fall') FROM version_now AS n
        WHERE n.app = NEW.app AND n.platform = NEW.platform AND NEW.required_build IS NOT OLD.required_build AND n.required_build IS NOT NULL
            AND coalesce(NEW.required_build < n.required_build, 1);
    SELECT RAISE(ABORT, 'version codes only rise: latest_build would fall') FROM version_now AS n
        WHERE n.app = NEW.app AND n.platform = NEW.platform AND NEW.latest_build IS NOT OLD.latest_build AND n.latest_build IS NOT NULL
            AND coalesce(NEW.latest_build < n.latest_build, 1);
    INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released,
            download_url, message, canary, asked_at, changed_by, changed_via, changed_at)
        SELECT NEW.app, NEW.platform, 'required', NEW.required, iif(NEW.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))),
            iif(NEW.required_build IS NOT OLD.required_build, NEW.required_build, NULL), 'asked', iif(iif(json_type(iif(NEW.telephones IS NOT OLD.telephones, NEW.telephones, NULL)) = 'array', json_array_length(iif(NEW.telephones IS NOT OLD.telephones, NEW.telephones, NULL)), NULL) IS NULL, 10000, 0), 1, 0,
            iif(NEW.download_url IS NOT OLD.download_url, NEW.download_url, NULL), iif(NEW.message IS NOT OLD.message, NEW.message, NULL), iif(json_type(iif(NEW.telephones IS NOT OLD.telephones, NEW.telephones, NULL)) = 'array', json_array_length(iif(NEW.telephones IS NOT OLD.telephones, NEW.telephones, NULL)), NULL), CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), iif(NEW.changed_by <> OLD.changed_by, NEW.changed_by, 'unknown'),
            'database', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
        WHERE NEW.required IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform AND n.required_key >= iif(NEW.required IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))));
    INSERT INTO requirement_canary (requirement_id, number, telephone)
        SELECT n.required_id, t.key, t.value FROM version_now AS n
            JOIN requirement AS r ON r.id = n.required_id AND r.state = 'asked' AND r.canary IS NOT NULL
            JOIN json_each(iif(NEW.telephones IS NOT OLD.telephones, NEW.telephones, NULL)) AS t
        WHERE n.app = NEW.app AND n.platform = NEW.platform AND NOT EXISTS (SELECT 1 FROM requirement_canary AS c WHERE c.requirement_id = n.required_id);
    INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released,
            download_url, message, canary, asked_at, changed_by, changed_via, changed_at)
        SELECT NEW.app, NEW.platform, 'latest', NEW.latest, iif(NEW.latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))),
            iif(NEW.latest_build IS NOT OLD.latest_build, NEW.latest_build, NULL), 'asked', 10000, 1, 0,
            iif(NEW.download_url IS NOT OLD.download_url, NEW.download_url, NULL), iif(NEW.message IS NOT OLD.message, NEW.message, NULL), NULL, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), iif(NEW.changed_by <> OLD.changed_by, NEW.changed_by, 'unknown'),
            'database', CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
        WHERE NEW.latest IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform AND n.latest_key >= iif(NEW.latest IS NULL, NULL, (SELECT coalesce(group_concat(printf('%02d', length(d)) || d, ''), '') FROM
    (SELECT ltrim(n.value, '0') AS d FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n
     WHERE n.key <= (SELECT max(m.key) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS m WHERE ltrim(m.value, '0') <> '')
     ORDER BY n.key))));
    -- Texts and codes alone are those of what is asked for.
    UPDATE requirement SET
            download_url = iif(NEW.download_url IS NOT OLD.download_url, NEW.download_url,
                requirement.download_url),
            message = iif(NEW.message IS NOT OLD.message, NEW.message, requirement.message),
            build = CASE WHEN requirement.id = n.required_id AND NEW.required_build IS NOT OLD.required_build THEN NEW.required_build
                         WHEN requirement.id = n.latest_id AND NEW.latest_build IS NOT OLD.latest_build THEN NEW.latest_build
                         ELSE requirement.build END,
            changed_by = iif(NEW.changed_by <> OLD.changed_by, NEW.changed_by, 'unknown'), changed_via = 'database', changed_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
            AND requirement.id IN (n.required_id, n.latest_id)
            AND NEW.required IS OLD.required AND NEW.latest IS OLD.latest
            AND (NEW.download_url IS NOT OLD.download_url AND NEW.download_url IS NOT n.download_url
                 OR NEW.message IS NOT OLD.message AND NEW.message IS NOT n.message
                 OR NEW.required_build IS NOT OLD.required_build AND NEW.required_build IS NOT n.required_build
                 OR NEW.latest_build IS NOT OLD.latest_build AND NEW.latest_build IS NOT n.latest_build);
    UPDATE version SET required = n.required, latest = n.latest, required_build = n.required_build,
            latest_build = n.latest_build, download_url = n.download_url, message = n.message, telephones = NULL,
            revision = coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0)
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform AND version.app = NEW.app AND version.platform = NEW.platform
            AND (version.required IS NOT n.required OR version.latest IS NOT n.latest
                 OR version.required_build IS NOT n.required_build OR version.latest_build IS NOT n.latest_build
                 OR version.download_url IS NOT n.download_url OR version.message IS NOT n.message
                 OR version.telephones IS NOT NULL OR version.revision <> coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0));
END;
