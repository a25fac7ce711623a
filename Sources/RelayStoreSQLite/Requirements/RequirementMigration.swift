// SPDX-License-Identifier: Apache-2.0

/// What was four tables, two histories and a campaign's state, as requirements and a campaign's own facts.
enum RequirementMigration {
    static let sql: SQL = "\(rises)\n\(states)\n\(campaigns)\n\(events)\n\(version)"

    private static func key(_ column: SQL) -> SQL { VersionKey.of(column) }
    private static let everybody: SQL = "h.app = r.app AND h.platform = r.platform AND h.canary = 0"

    // MARK: Rows

    private static let rises: SQL = """
        DROP TRIGGER campaign_event_in_force;
        DROP TRIGGER campaign_event_canary;
        DROP TRIGGER campaign_moved;

        CREATE TABLE past AS SELECT *, \(key("required")) AS rk, \(key("latest")) AS lk FROM version_history;
        CREATE TABLE forced AS SELECT *, \(key("required")) AS rk, \(key("latest")) AS lk FROM in_force_history;
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
                JOIN (SELECT c.id, a.name, a.platform, \(key("c.required")) AS k,
                        row_number() OVER (PARTITION BY c.app_id, \(key("c.required")) ORDER BY c.id DESC) AS n
                      FROM campaign AS c JOIN app AS a ON a.id = c.app_id) AS o
                ON o.name = r.app AND o.platform = r.platform AND o.k = r.version_key AND o.n = r.n;
        -- One that is of no rise that anybody knows.
        INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released, download_url,
                message, asked_at, changed_by, changed_via, changed_at, reason)
            SELECT a.name, a.platform, 'required', c.required, \(key("c.required")), c.required_build, 'withdrawn', 10000, 1, 0,
                c.download_url, c.message, c.created_at, 'unknown', 'migration', c.created_at, 'campaign ' || c.id
            FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            WHERE c.id NOT IN (SELECT campaign_id FROM campaign_of) ORDER BY c.id;
        INSERT INTO campaign_of (campaign_id, requirement_id)
            SELECT CAST(substr(reason, 10) AS INTEGER), id FROM requirement WHERE reason LIKE 'campaign %';
        UPDATE requirement SET reason = NULL WHERE reason LIKE 'campaign %';
        """

    // MARK: States

    /// In force for everybody since it was asked for.
    private static let wasForced: SQL = """
        SELECT min(h.changed_at) FROM forced AS h WHERE \(everybody) AND h.rk = r.version_key
        """

    private static let states: SQL = """
        -- 4. In force for everybody once, and not above what is so now. Above: halted, or never let through.
        UPDATE requirement AS r SET state = 'in_force', in_force_at = (\(wasForced))
            WHERE kind = 'required' AND state = 'waiting' AND (\(wasForced)) IS NOT NULL
                AND version_key <= (SELECT \(key("h.required")) FROM in_force AS h WHERE \(everybody));
        -- The one that is so now, with who let it through.
        UPDATE requirement AS r SET in_force_at = coalesce(h.since, r.in_force_at), in_force_by = h.opened_by,
                reason = h.reason, download_url = h.download_url, message = h.message,
                build = coalesce(r.build, h.required_build)
            FROM in_force AS h WHERE \(everybody) AND r.kind = 'required' AND r.state = 'in_force'
                AND r.version_key = \(key("h.required"));
        -- 5. For its canary alone.
        UPDATE requirement AS r SET state = 'in_force', reach = 0, in_force_at = h.since, in_force_by = h.opened_by,
                canary = json_array_length(h.telephones)
            FROM in_force AS h WHERE h.app = r.app AND h.platform = r.platform AND h.canary = 1
                AND r.kind = 'required' AND r.state = 'waiting' AND r.version_key = \(key("h.required"));
        UPDATE rise SET telephones = h.telephones
            FROM requirement AS r JOIN in_force AS h ON h.app = r.app AND h.platform = r.platform AND h.canary = 1
            WHERE r.id = rise.id AND r.kind = 'required' AND r.state = 'in_force' AND r.reach = 0;
        UPDATE requirement SET reach = 0 WHERE state = 'waiting' AND canary IS NOT NULL;
        -- 6. Cancelled before that or after a halt, or a canary that came to its end: taken back.
        UPDATE requirement AS r SET state = 'withdrawn', changed_via = 'migration',
                reason = 'its campaign ended before it was in force for everybody'
            WHERE kind = 'required' AND (state = 'waiting' OR state = 'in_force' AND reach = 0) AND EXISTS (
                SELECT 1 FROM campaign_of AS o JOIN campaign AS c ON c.id = o.campaign_id WHERE o.requirement_id = r.id
                    AND (c.state = 'cancelled' AND (r.state = 'waiting' OR (\(wasForced)) IS NULL)
                         OR c.canary = 'alone' AND c.state IN ('completed', 'superseded', 'cancelled')));
        -- 7. Announced.
        UPDATE requirement AS r SET state = 'announced' WHERE kind = 'latest' AND state = 'waiting'
            AND version_key <= (SELECT \(key("h.latest")) FROM in_force AS h WHERE \(everybody));
        UPDATE requirement AS r SET download_url = h.latest_url, message = h.latest_message,
                build = coalesce(r.build, h.latest_build)
            FROM in_force AS h WHERE \(everybody) AND r.kind = 'latest' AND r.state = 'announced'
                AND r.version_key = \(key("h.latest"));
        UPDATE requirement AS r SET state = 'announced' WHERE kind = 'required' AND state = 'waiting' AND reach = 10000
            AND version_key <= (SELECT \(key("h.latest")) FROM in_force AS h WHERE \(everybody))
            AND (\(wasForced)) IS NULL;
        -- 8. A person's release is a person's; what nobody held back waits for no store.
        UPDATE requirement AS r SET released = 1 WHERE state = 'in_force' AND reach = 10000 AND EXISTS (
            SELECT 1 FROM forced AS h WHERE \(everybody) AND h.rk = r.version_key AND h.changed_from = 'release');
        UPDATE requirement SET gated = 0 WHERE state = 'in_force' AND coalesce(in_force_by, 'noGate') = 'noGate';
        UPDATE requirement AS r SET reason = c.reason FROM campaign_of AS o JOIN campaign AS c ON c.id = o.campaign_id
            WHERE o.requirement_id = r.id AND r.state = 'withdrawn' AND c.state = 'cancelled' AND c.reason IS NOT NULL;
        UPDATE requirement AS r SET reason = c.reason FROM campaign_of AS o JOIN campaign AS c ON c.id = o.campaign_id
            WHERE o.requirement_id = r.id AND r.state = 'waiting' AND c.state = 'suspended';
        INSERT INTO requirement_canary (requirement_id, number, telephone)
            SELECT r.id, t.key, t.value FROM requirement AS r JOIN rise AS s ON s.id = r.id JOIN json_each(s.telephones) AS t
            WHERE r.canary IS NOT NULL AND r.state <> 'withdrawn';
        """

    // MARK: Campaigns

    private static let cause: SQL = """
        CASE WHEN c.state <> 'suspended' OR r.state <> 'in_force' THEN NULL
            WHEN c.reason LIKE 'WaveDone%' THEN 'approval' WHEN c.reason LIKE 'WaveFailed%' THEN 'stageFailed'
            WHEN c.reason LIKE 'PayloadTooLarge%' THEN 'payload' WHEN c.reason LIKE 'StoreConflict%' THEN 'store'
            WHEN c.reason LIKE '%none was given up%' THEN 'deadTokens'
            ELSE 'credential' END
        """

    /// What a halt had stopped waits; also where somebody had resumed it, since nobody may be told.
    private static let state: SQL =
        "iif(r.state = 'waiting' AND c.state IN ('running', 'suspended'), 'waiting', c.state)"

    private static let campaigns: SQL = """
        -- Over, and not by its own end: it goes on when what took its place is taken back. Who was left out has no outcome.
        CREATE TABLE left_out AS
            SELECT c.id, (SELECT count(*) = 2 AND sum(s.cursor) = 0 AND max(s.number) = 1 AND max(s.environment) = 1
                          FROM shard AS s WHERE s.campaign_id = c.id AND s.rest = 8) AS unplanned,
                (SELECT coalesce(sum(s.remaining), 0) FROM shard AS s
                 WHERE s.campaign_id = c.id AND s.done = 1 AND s.rest = 8) AS devices,
                (SELECT max(s.last) FROM shard AS s WHERE s.campaign_id = c.id AND s.rest = 8) AS last
            FROM campaign AS c WHERE c.state IN ('superseded', 'cancelled') AND c.pruned_at IS NULL;
        CREATE TABLE campaign_new (\(columns)) STRICT;
        INSERT INTO campaign_new (id, public_id, app_id, requirement_id, required, latest, download_url, message, state, reason,
                paused_at, cause, cause_text, ended, created_at, started_at, finished_at, expires_at, time_left, time_to_live,
                planned_at, left_devices, left_last, canary_ended_at, pruned_at, accepted, retrying, rejected, unregistered, expired,
                filtered, cancelled, upgraded, upgraded_push, upgraded_login, upgraded_both, told)
            SELECT c.id, c.public_id, c.app_id, r.id, c.required, c.latest, c.download_url, c.message,
                \(state), c.reason,
                iif(c.state = 'paused', coalesce(c.started_at, c.created_at), NULL),
                \(cause), iif(\(cause) IS NULL, NULL, c.reason),
                CASE WHEN c.state = 'completed' THEN 'completed'
                     WHEN c.state = 'cancelled' AND r.state <> 'withdrawn' THEN 'cancelled' END,
                c.created_at, c.started_at, c.finished_at, c.expires_at,
                iif(\(state) = 'running', NULL, max(c.expires_at - coalesce(c.finished_at, c.started_at, c.created_at), 0)),
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
            \(CampaignEventSchema.note(at: "NEW.created_at"))
        END;
        CREATE TRIGGER campaign_moved AFTER UPDATE OF state ON campaign WHEN NEW.state <> OLD.state BEGIN
            \(CampaignEventSchema.note(at: "coalesce(NEW.finished_at, \(VersionDoor.now))"))
        END;
        """

    private static let columns: SQL = """
        id                 INTEGER PRIMARY KEY,
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
            CHECK ((finished_at IS NOT NULL) = (state IN ('completed', 'cancelled', 'superseded')))
        """

    // MARK: The history

    private static let events: SQL = """
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
        """

    private static let version: SQL = """
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
        CREATE TABLE version (
            app            TEXT NOT NULL CHECK (app <> ''),
            platform       TEXT NOT NULL CHECK (platform IN ('ios', 'android')),
            latest         TEXT CONSTRAINT "latest is a version such as 2.1.0" CHECK (\(VersionKey.isVersion("latest"))),
            required       TEXT CONSTRAINT "required is a version such as 2.1.0" CHECK (\(VersionKey.isVersion("required"))),
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
        \(VersionDoor.view)
        INSERT INTO version (app, platform, required, latest, required_build, latest_build, download_url, message, changed_by,
                changed_from, revision, updated_at)
            SELECT app, platform, required, latest, required_build, latest_build, download_url, message, 'migration', 'migration',
                (SELECT max(id) FROM requirement_event),
                (SELECT max(r.changed_at) FROM requirement AS r WHERE r.app = n.app AND r.platform = n.platform)
            FROM version_now AS n;
        """
}

/// The triggers that note each state of a campaign.
enum CampaignEventSchema {
    static func note(at time: SQL) -> SQL {
        """
        INSERT INTO campaign_event (public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at,
                    planned_at, pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled,
                    upgraded, reasons, in_force)
                SELECT lower(hex(randomblob(16))), NEW.id, \(time), NEW.state, NEW.reason, NEW.started_at, NEW.finished_at,
                    NEW.expires_at, NEW.planned_at,
                    iif(NEW.finished_at IS NOT NULL, 0, \(CampaignTable.notReached("NEW"))), NEW.accepted,
                    iif(\(CampaignTable.isLeftOut("NEW")), 0, NEW.retrying), NEW.rejected, NEW.unregistered, NEW.expired, NEW.filtered,
                    NEW.cancelled + iif(\(CampaignTable.isLeftOut("NEW")), NEW.retrying + \(CampaignTable.notReached("NEW")), 0), NEW.upgraded,
                    (SELECT json_group_array(json_array(r.kind, r.reason, r.devices)) FROM campaign_reason AS r
                     WHERE r.campaign_id = NEW.id AND r.devices > 0),
                    (SELECT r.version FROM requirement AS r JOIN app AS a ON a.name = r.app AND a.platform = r.platform
                     WHERE a.id = NEW.app_id AND r.kind = 'required' AND r.state = 'in_force' AND r.reach = 10000
                     ORDER BY r.version_key DESC LIMIT 1);
        """
    }
}
