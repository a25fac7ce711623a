// SPDX-License-Identifier: Apache-2.0

extension Migration {
    /// Every step there ever was. A released step is never edited: stores out there have run it. The comments inside the SQL stay
    /// in the database.
    static let chain: [Migration] = [
        Migration(name: "the first schema", toVersion: 1, sql: FirstSchema.sql),
        Migration(name: "version codes, alerts, versions seen", toVersion: 2, sql: versionCodes),
        Migration(name: "pruned campaigns, the outbox of notifications", toVersion: 3, sql: outbox),
        Migration(name: "a compact ledger", toVersion: 4, sql: compactLedger),
        Migration(name: "campaigns in waves", toVersion: 5, sql: waves),
        Migration(
            name: "pauses of provider tokens", toVersion: 6,
            sql: """
                -- Until when the push service wants no other token of this key, and no pushes with it.
                ALTER TABLE provider_token ADD COLUMN paused_until INTEGER;
                """),
        Migration(name: "shards and retries by push environment", toVersion: 7, sql: environments),
        Migration(
            name: "apps of API tokens, digests of webhooks", toVersion: 8,
            sql: """
                -- The apps that the token is bound to, one a line; NULL: all.
                ALTER TABLE access_token ADD COLUMN apps TEXT;
                -- Of the body: the same id with another body is refused. NULL: of an older release.
                ALTER TABLE webhook ADD COLUMN digest INTEGER;
                """),
        Migration(name: "what is in force, beside what is required", toVersion: 9, sql: InForceSchema.sql),
        Migration(name: "who obeyed, over time", toVersion: 10, sql: AdoptionTable.schema),
        Migration(name: "campaigns that are sent again", toVersion: 11, sql: rounds),
        Migration(name: "texts of the latest version", toVersion: 12, sql: LatestTextsSchema.sql),
        Migration(name: "versions that were withdrawn", toVersion: 13, sql: WithdrawalSchema.sql),
        Migration(name: "campaigns that begin with a canary", toVersion: 14, sql: CanaryTable.schema),
        Migration(name: "why campaigns stood still", toVersion: 15, sql: suspensions),
        Migration(name: "one record of what is required", toVersion: 16, sql: RequirementSchema.sql),
    ]

    // MARK: 2

    /// The triggers that copy a row into the history know its columns by name, so those are made anew.
    private static let versionCodes: SQL = """
        ALTER TABLE version ADD COLUMN latest_build INTEGER CHECK (latest_build BETWEEN 1 AND 2147483647);
        ALTER TABLE version ADD COLUMN required_build INTEGER CHECK (required_build BETWEEN 1 AND 2147483647);
        ALTER TABLE version_history ADD COLUMN latest_build INTEGER;
        ALTER TABLE version_history ADD COLUMN required_build INTEGER;

        CREATE TRIGGER version_builds_rise AFTER UPDATE ON version BEGIN
            SELECT RAISE(ABORT, 'version codes only rise: latest_build would fall')
                WHERE OLD.latest_build IS NOT NULL AND coalesce(NEW.latest_build < OLD.latest_build, 1);
            SELECT RAISE(ABORT, 'version codes only rise: required_build would fall')
                WHERE OLD.required_build IS NOT NULL AND coalesce(NEW.required_build < OLD.required_build, 1);
        END;
        CREATE TRIGGER version_builds_rise_from_history AFTER INSERT ON version BEGIN
            SELECT RAISE(ABORT, 'version codes only rise: a build would fall')
                FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
                    AND (old.latest_build IS NOT NULL AND coalesce(NEW.latest_build < old.latest_build, 1)
                         OR old.required_build IS NOT NULL AND coalesce(NEW.required_build < old.required_build, 1));
        END;

        DROP TRIGGER version_updated_unsigned;
        CREATE TRIGGER version_updated_unsigned AFTER UPDATE ON version
            WHEN NEW.revision = OLD.revision
                AND (NEW.latest IS NOT OLD.latest OR NEW.required IS NOT OLD.required
                     OR NEW.download_url IS NOT OLD.download_url OR NEW.message IS NOT OLD.message
                     OR NEW.telephones IS NOT OLD.telephones OR NEW.latest_build IS NOT OLD.latest_build
                     OR NEW.required_build IS NOT OLD.required_build)
        BEGIN
            UPDATE version SET revision = revision + 1, \(FirstVersionSchema.sign)
                WHERE app = NEW.app AND platform = NEW.platform;
        END;

        DROP TRIGGER version_updated_signed;
        CREATE TRIGGER version_updated_signed AFTER UPDATE ON version WHEN NEW.revision <> OLD.revision BEGIN
            SELECT RAISE(ABORT, 'revision counts up by one')
                WHERE NEW.revision <> OLD.revision + 1 AND OLD.revision <> 0;
            \(FirstVersionSchema.latestIsNotOlder)
            \(record)
        END;

        DROP TRIGGER version_inserted_signed;
        CREATE TRIGGER version_inserted_signed AFTER INSERT ON version WHEN NEW.revision <> 0 BEGIN
            \(FirstVersionSchema.riseFromHistory)
            SELECT RAISE(ABORT, 'revision counts up by one')
                FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
                    AND old.revision >= NEW.revision;
            \(FirstVersionSchema.latestIsNotOlder)
            \(record)
        END;

        -- What every user of an app is told at launch. A blocking alert locks the app, so it has an end.
        CREATE TABLE alert (
            app        TEXT NOT NULL CHECK (app <> ''),
            platform   TEXT NOT NULL CHECK (platform IN ('ios', 'android')),
            message    TEXT NOT NULL CHECK (message <> ''),
            blocking   INTEGER NOT NULL CHECK (blocking IN (0, 1)),
            ends_at    INTEGER,
            created_at INTEGER NOT NULL,
            created_by TEXT NOT NULL,
            PRIMARY KEY (app, platform),
            CONSTRAINT "a blocking alert has an end" CHECK (blocking = 0 OR ends_at IS NOT NULL)
        ) STRICT;

        -- How many devices, not removed, were last seen with which version; kept by the relay with every registration.
        CREATE TABLE version_seen (
            app_id  INTEGER NOT NULL REFERENCES app (id),
            version TEXT NOT NULL,  -- as the devices spell it; empty: unknown
            devices INTEGER NOT NULL,
            PRIMARY KEY (app_id, version)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO version_seen (app_id, version, devices)
            SELECT app_id, coalesce(version, ''), count(*) FROM device WHERE removed_at IS NULL GROUP BY 1, 2;
        """

    static let record: SQL = """
        INSERT INTO version_history (app, platform, revision, latest, required, download_url, message, telephones,
                                         changed_by, changed_from, updated_at, latest_build, required_build)
                VALUES (NEW.app, NEW.platform, NEW.revision, NEW.latest, NEW.required, NEW.download_url, NEW.message,
                        NEW.telephones, NEW.changed_by, NEW.changed_from, NEW.updated_at, NEW.latest_build,
                        NEW.required_build);
        """

    // MARK: 3

    private static let outbox: SQL = """
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
            \(note(at: "NEW.created_at"))
        END;
        CREATE TRIGGER campaign_moved AFTER UPDATE OF state ON campaign WHEN NEW.state <> OLD.state BEGIN
            \(note(at: "coalesce(NEW.finished_at, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))"))
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
        """

    /// Before planning, pending is the registry's own count, as in `CampaignTable`.
    private static func note(at time: SQL) -> SQL {
        """
        INSERT INTO campaign_event (public_id, campaign_id, at, state, reason, started_at, finished_at, expires_at,
                    planned_at, pending, accepted, retrying, rejected, unregistered, expired, filtered, cancelled,
                    upgraded, reasons)
                SELECT lower(hex(randomblob(16))), NEW.id,
                    \(time),
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
        """
    }

    // MARK: 4

    /// A row of `delivery` costs some 40 bytes and an insertion into a tree with two indexes; of a campaign nearly all rows say
    /// "accepted at the first attempt". Rows from before stay as they are: both forms are read.
    private static let compactLedger: SQL = """
        -- The ledger's compact part: devices of one batch whose push was accepted at the first attempt or filtered. All others
        -- have a row in delivery. Nobody has both: what happens to such a device later turns its batch into rows first.
        CREATE TABLE delivery_batch (
            campaign_id INTEGER NOT NULL REFERENCES campaign (id),
            last        INTEGER NOT NULL REFERENCES device (id),
            first       INTEGER NOT NULL REFERENCES device (id),
            updated_at  INTEGER NOT NULL,
            accepted    INTEGER NOT NULL CHECK (accepted >= 0),  -- how many of its devices
            filtered    INTEGER NOT NULL CHECK (filtered >= 0),
            -- For each device, ascending, a number of 7 bits a byte, lowest first, the highest bit set in all bytes but the
            -- last: 8 * (devices' ids left out since the one before) + outcome. Outcomes: 0 accepted, filtered because of
            -- 1 noTelephone, 2 alreadyCurrent, 3 notInAudience, 4 knownDead.
            outcomes    BLOB NOT NULL,
            -- For each device, whom the push was for: 0 for nobody, or such a number, 1 + bytes of the telephone, and these.
            telephones  BLOB NOT NULL,
            CHECK (first <= last AND accepted + filtered BETWEEN 1 AND last - first + 1),
            CHECK (length(outcomes) >= accepted + filtered AND length(telephones) >= accepted + filtered),
            PRIMARY KEY (campaign_id, last)
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER delivery_batches_are_apart BEFORE INSERT ON delivery_batch BEGIN
            SELECT RAISE(ABORT, 'batches of a campaign do not overlap')
                WHERE (SELECT first FROM delivery_batch WHERE campaign_id = NEW.campaign_id AND last >= NEW.first
                       ORDER BY last LIMIT 1) <= NEW.last;
        END;
        CREATE TRIGGER delivery_batch_is_not_edited BEFORE UPDATE ON delivery_batch BEGIN
            SELECT RAISE(ABORT, 'a batch is never changed: it becomes rows of delivery');
        END;

        -- Devices of delivery_batch that have come up to the requirement since, counted in campaign.upgraded. Rows of delivery
        -- have a column for it.
        CREATE TABLE delivery_upgrade (
            campaign_id INTEGER NOT NULL REFERENCES campaign (id),
            device_id   INTEGER NOT NULL REFERENCES device (id),
            PRIMARY KEY (campaign_id, device_id)
        ) STRICT, WITHOUT ROWID;
        """

    // MARK: 5

    private static let waves: SQL = """
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
        """

    // MARK: 7

    /// Shards and retries belong to one environment of the push service, so that each of the two gets on by itself.
    private static let environments: SQL = """
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
                    s.remaining * (SELECT count(*) FROM device AS d INDEXED BY device_sandbox WHERE \(isLeftSandbox))
                        / (SELECT count(*) FROM device AS d INDEXED BY device_live WHERE \(isLeft)) END,
                s.done, s.wave, 1, 0
            FROM shard AS s JOIN campaign AS c ON c.id = s.campaign_id
            WHERE s.cursor < s.last
                AND EXISTS (SELECT 1 FROM device AS d INDEXED BY device_sandbox WHERE \(isLeftSandbox));
        UPDATE shard SET remaining = remaining - (SELECT t.remaining FROM shard AS t WHERE \(isBeside))
            WHERE environment = 0 AND EXISTS (SELECT 1 FROM shard AS t WHERE \(isBeside));

        DROP INDEX shard_open;
        CREATE INDEX shard_open ON shard (campaign_id, environment, number, remaining) WHERE done = 0;

        -- Which service tries again, while retrying.
        ALTER TABLE delivery ADD COLUMN environment INTEGER NOT NULL DEFAULT 0 CHECK (environment IN (0, 1));
        UPDATE delivery SET environment = 1
            WHERE state = 3 AND 1 = (SELECT d.environment FROM device AS d WHERE d.id = device_id);
        DROP INDEX delivery_retry;
        CREATE INDEX delivery_retry ON delivery (campaign_id, environment, next_attempt_at) WHERE state = 3;
        """

    /// Not behind the cursor of shard `s` of campaign `c`, and not removed.
    private static let isLeft: SQL =
        "d.app_id = c.app_id AND d.removed_at IS NULL AND d.id > s.cursor AND d.id <= s.last"
    private static let isLeftSandbox: SQL = "\(isLeft) AND coalesce(d.planned_environment, d.environment) = 1"

    /// The shard `t` of sandbox devices that was made beside `shard`.
    private static let isBeside: SQL = """
        t.campaign_id = shard.campaign_id AND t.environment = 1 AND t.wave = shard.wave AND t.cursor = shard.cursor
                AND t.last = shard.last
        """

    // MARK: 11

    private static let rounds: SQL = """
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
        """

    // MARK: 15

    private static let suspensions: SQL = """
        CREATE INDEX IF NOT EXISTS campaign_event_suspended ON campaign_event (campaign_id) WHERE state = 'suspended';
        """
}
