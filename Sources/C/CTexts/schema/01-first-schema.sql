-- step: the first schema
-- in SQLite:
CREATE TABLE migration (
    version    INTEGER PRIMARY KEY,  -- PRAGMA user_version after the step
    name       TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

-- One app on one platform, as a number for the large tables.
CREATE TABLE app (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    platform TEXT NOT NULL CHECK (platform IN ('ios', 'android')),
    devices  INTEGER NOT NULL DEFAULT 0 CHECK (devices >= 0),  -- registered and not removed; kept by the relay
    UNIQUE (name, platform)
) STRICT;

CREATE TABLE version (
    app          TEXT NOT NULL CHECK (app <> ''),
    platform     TEXT NOT NULL CHECK (platform IN ('ios', 'android')),
    latest       TEXT CONSTRAINT "latest is a version such as 2.1.0" CHECK (latest GLOB '[0-9]*' AND latest GLOB '*[0-9]' AND latest NOT GLOB '*[^0-9.]*' AND latest NOT GLOB '*..*' AND length(latest) <= 64 AND length(CAST(latest AS BLOB)) = length(latest)),
    required     TEXT CONSTRAINT "required is a version such as 2.1.0" CHECK (required GLOB '[0-9]*' AND required GLOB '*[0-9]' AND required NOT GLOB '*[^0-9.]*' AND required NOT GLOB '*..*' AND length(required) <= 64 AND length(CAST(required AS BLOB)) = length(required)),
    download_url TEXT CHECK (download_url <> ''),  -- NULL: the one of the configuration
    message      TEXT,
    -- A JSON array of the only telephones that a rise of required is announced to; NULL: everyone. It is taken as
    -- it stands when required rises: set it together with required.
    telephones   TEXT CHECK (json_type(telephones) = 'array'),
    changed_by   TEXT NOT NULL DEFAULT 'unknown',
    changed_from TEXT NOT NULL DEFAULT 'database',
    revision     INTEGER NOT NULL DEFAULT 0,       -- leave it alone, or count it up by one to sign the change
    updated_at   INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
    PRIMARY KEY (app, platform)
) STRICT;

-- Every state that a row of version was ever in, with who made it so.
CREATE TABLE version_history (
    app          TEXT NOT NULL,
    platform     TEXT NOT NULL,
    revision     INTEGER NOT NULL,
    latest       TEXT,
    required     TEXT,
    download_url TEXT,
    message      TEXT,
    telephones   TEXT,
    changed_by   TEXT NOT NULL,
    changed_from TEXT NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (app, platform, revision)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER version_rises AFTER UPDATE ON version BEGIN
    SELECT RAISE(ABORT, 'versions only rise: required would fall')
        WHERE OLD.required IS NOT NULL AND (NEW.required IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(OLD.required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'versions only rise: latest would fall')
        WHERE OLD.latest IS NOT NULL AND (NEW.latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(OLD.latest, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'a version row keeps its app and platform')
        WHERE NEW.app <> OLD.app OR NEW.platform <> OLD.platform;
    SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
        WHERE EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18) OR EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18);
END;

CREATE TRIGGER version_stays BEFORE DELETE ON version BEGIN
    SELECT RAISE(ABORT, 'versions only rise: a version row is never deleted');
END;

CREATE TRIGGER version_updated_unsigned AFTER UPDATE ON version
    WHEN NEW.revision = OLD.revision
        AND (NEW.latest IS NOT OLD.latest OR NEW.required IS NOT OLD.required
             OR NEW.download_url IS NOT OLD.download_url OR NEW.message IS NOT OLD.message
             OR NEW.telephones IS NOT OLD.telephones)
BEGIN
    UPDATE version SET revision = revision + 1, changed_by = 'unknown', changed_from = 'database', updated_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
        latest = CASE WHEN required IS NOT NULL AND (latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0))
                      THEN required ELSE latest END
        WHERE app = NEW.app AND platform = NEW.platform;
END;

CREATE TRIGGER version_inserted_unsigned AFTER INSERT ON version WHEN NEW.revision = 0 BEGIN
    SELECT RAISE(ABORT, 'versions only rise: required would fall')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.required IS NOT NULL AND (NEW.required IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(old.required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'versions only rise: latest would fall')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.latest IS NOT NULL AND (NEW.latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(old.latest, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
        WHERE EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18) OR EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18);
    UPDATE version SET changed_by = 'unknown', changed_from = 'database', updated_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
        latest = CASE WHEN required IS NOT NULL AND (latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0))
                      THEN required ELSE latest END,
        revision = 1 + (SELECT coalesce(max(h.revision), 0) FROM version_history AS h
                        WHERE h.app = NEW.app AND h.platform = NEW.platform)
        WHERE app = NEW.app AND platform = NEW.platform;
END;

CREATE TRIGGER version_updated_signed AFTER UPDATE ON version WHEN NEW.revision <> OLD.revision BEGIN
    SELECT RAISE(ABORT, 'revision counts up by one')
        WHERE NEW.revision <> OLD.revision + 1 AND OLD.revision <> 0;
    SELECT RAISE(ABORT, 'latest must not be older than required')
        WHERE NEW.required IS NOT NULL
            AND (NEW.latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(NEW.required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    INSERT INTO version_history (app, platform, revision, latest, required, download_url, message, telephones,
                                 changed_by, changed_from, updated_at)
        VALUES (NEW.app, NEW.platform, NEW.revision, NEW.latest, NEW.required, NEW.download_url, NEW.message,
                NEW.telephones, NEW.changed_by, NEW.changed_from, NEW.updated_at);
END;

CREATE TRIGGER version_inserted_signed AFTER INSERT ON version WHEN NEW.revision <> 0 BEGIN
    SELECT RAISE(ABORT, 'versions only rise: required would fall')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.required IS NOT NULL AND (NEW.required IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(old.required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'versions only rise: latest would fall')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.latest IS NOT NULL AND (NEW.latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(old.latest, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
        WHERE EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18) OR EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18);
    SELECT RAISE(ABORT, 'revision counts up by one')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.revision >= NEW.revision;
    SELECT RAISE(ABORT, 'latest must not be older than required')
        WHERE NEW.required IS NOT NULL
            AND (NEW.latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(NEW.required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    INSERT INTO version_history (app, platform, revision, latest, required, download_url, message, telephones,
                                 changed_by, changed_from, updated_at)
        VALUES (NEW.app, NEW.platform, NEW.revision, NEW.latest, NEW.required, NEW.download_url, NEW.message,
                NEW.telephones, NEW.changed_by, NEW.changed_from, NEW.updated_at);
END;

CREATE TRIGGER version_history_is_not_edited BEFORE UPDATE ON version_history BEGIN
    SELECT RAISE(ABORT, 'the history of versions is not edited');
END;
CREATE TRIGGER version_history_is_not_deleted BEFORE DELETE ON version_history BEGIN
    SELECT RAISE(ABORT, 'the history of versions is not deleted');
END;

-- The device registry. A removed device keeps its row, without its user, so that the ledger can name its token.
CREATE TABLE device (
    id            INTEGER PRIMARY KEY,
    app_id        INTEGER NOT NULL REFERENCES app (id),
    token         TEXT NOT NULL CHECK (token <> ''),  -- iOS: lower-case hex
    token_hash    INTEGER NOT NULL,                   -- FNV-1a, 64 bits, of the token
    telephone     TEXT,                               -- literally as the app holds it; NULL: nobody logged in
    version       TEXT,                               -- the app's version as last seen; NULL: unknown
    environment   INTEGER NOT NULL CHECK (environment IN (0, 1)),  -- 0 production, 1 sandbox
    registered_at INTEGER NOT NULL,                   -- when the token was last registered
    retired_at    INTEGER,                            -- since when the push service calls the token dead
    removed_at    INTEGER,
    CHECK (removed_at IS NULL OR telephone IS NULL)
) STRICT;
-- Tokens are looked up by their hash: random keys touch a page each, and this index has a quarter of the pages that
-- one over (app_id, token) has. One device for each token is kept by the relay, which looks before it inserts, in
-- one transaction.
CREATE INDEX device_token ON device (token_hash);
CREATE INDEX device_telephone ON device (telephone) WHERE telephone IS NOT NULL;
CREATE INDEX device_live ON device (app_id) WHERE removed_at IS NULL;  -- planning and listing, in id order

-- Whom a device belonged to before: how a user's old pushes are found.
CREATE TABLE former_telephone (
    telephone TEXT NOT NULL,
    device_id INTEGER NOT NULL REFERENCES device (id),
    PRIMARY KEY (telephone, device_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE campaign (
    id                 INTEGER PRIMARY KEY,
    public_id          TEXT NOT NULL UNIQUE CHECK (length(public_id) = 12 AND public_id NOT GLOB '*[^0-9a-f]*'),
    app_id             INTEGER NOT NULL REFERENCES app (id),
    required           TEXT NOT NULL,     -- as it was written
    required_canonical TEXT NOT NULL,     -- the one spelling that all equal versions share
    latest             TEXT,
    download_url       TEXT NOT NULL CHECK (download_url <> ''),
    message            TEXT,
    telephones         TEXT CHECK (json_type(telephones) = 'array'),  -- NULL: everyone
    state              TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'paused', 'suspended', 'completed',
                                                      'cancelled', 'superseded')),
    reason             TEXT,
    created_at         INTEGER NOT NULL,
    started_at         INTEGER,
    finished_at        INTEGER,
    expires_at         INTEGER NOT NULL,
    planned_at         INTEGER,           -- when the audience was cut into shards
    -- How many devices are in which state. Pending is the sum of shard.remaining, before planning app.devices.
    accepted           INTEGER NOT NULL DEFAULT 0 CHECK (accepted >= 0),
    retrying           INTEGER NOT NULL DEFAULT 0 CHECK (retrying >= 0),
    rejected           INTEGER NOT NULL DEFAULT 0 CHECK (rejected >= 0),
    unregistered       INTEGER NOT NULL DEFAULT 0 CHECK (unregistered >= 0),
    expired            INTEGER NOT NULL DEFAULT 0 CHECK (expired >= 0),
    filtered           INTEGER NOT NULL DEFAULT 0 CHECK (filtered >= 0),
    cancelled          INTEGER NOT NULL DEFAULT 0 CHECK (cancelled >= 0),
    upgraded           INTEGER NOT NULL DEFAULT 0 CHECK (upgraded >= 0),
    CHECK ((finished_at IS NOT NULL) = (state IN ('completed', 'cancelled', 'superseded'))),
    UNIQUE (app_id, required_canonical)   -- a rise makes exactly one campaign
) STRICT;
-- A newer requirement supersedes: of one app, one campaign at most is open.
CREATE UNIQUE INDEX campaign_open ON campaign (app_id)
    WHERE state NOT IN ('completed', 'cancelled', 'superseded');

-- Why devices were filtered or rejected, counted.
CREATE TABLE campaign_reason (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    kind        TEXT NOT NULL CHECK (kind IN ('filtered', 'rejected')),
    reason      TEXT NOT NULL,
    devices     INTEGER NOT NULL CHECK (devices >= 0),
    PRIMARY KEY (campaign_id, kind, reason)
) STRICT, WITHOUT ROWID;

-- A range of device ids, worked through in order by one owner at a time.
CREATE TABLE shard (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    number      INTEGER NOT NULL CHECK (number >= 0),
    cursor      INTEGER NOT NULL,  -- every device up to and including this id has its outcome
    last        INTEGER NOT NULL,  -- the last device id of the shard
    -- Devices of the audience without an outcome. In a shard that a cancellation or an expiry ended, those that
    -- were counted as cancelled or expired.
    remaining   INTEGER NOT NULL CHECK (remaining >= 0),
    lease_owner TEXT,
    lease_until INTEGER,
    done        INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1)),
    CHECK ((lease_owner IS NULL) = (lease_until IS NULL)),
    CHECK (cursor <= last),
    PRIMARY KEY (campaign_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX shard_open ON shard (campaign_id, number, remaining) WHERE done = 0;

-- The ledger: what became of each push. States 0 pending and 1 in flight are never written.
CREATE TABLE delivery (
    campaign_id     INTEGER NOT NULL REFERENCES campaign (id),
    device_id       INTEGER NOT NULL REFERENCES device (id),
    -- 2 accepted, 3 retrying, 4 rejected, 5 unregistered, 6 expired, 7 filtered, 8 cancelled
    state           INTEGER NOT NULL CHECK (state BETWEEN 2 AND 8),
    attempts        INTEGER NOT NULL CHECK (attempts >= 0),
    reason          TEXT,
    telephone       TEXT,              -- whom the push was for, as it was at that moment
    next_attempt_at INTEGER,
    updated_at      INTEGER NOT NULL,
    upgraded        INTEGER NOT NULL DEFAULT 0 CHECK (upgraded IN (0, 1)),  -- counted in campaign.upgraded
    CHECK ((next_attempt_at IS NOT NULL) = (state = 3)),
    PRIMARY KEY (campaign_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_retry ON delivery (campaign_id, next_attempt_at) WHERE state = 3;
-- Not IN (...): SQLite would fill a temporary table with the list and look each new row up in it.
CREATE INDEX delivery_rare ON delivery (campaign_id, state) WHERE state > 2 AND state <> 7;

-- Webhooks that were answered: a replay gets the same answer.
CREATE TABLE webhook (
    hook        TEXT NOT NULL,
    id          TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    status      INTEGER NOT NULL CHECK (status BETWEEN 100 AND 599),
    body        BLOB NOT NULL,
    PRIMARY KEY (hook, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_received ON webhook (received_at);

CREATE TABLE access_token (
    name       TEXT PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),  -- SHA-256 of the secret
    scopes     TEXT NOT NULL,                                   -- separated by spaces
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

CREATE TABLE provider_token (
    key       TEXT PRIMARY KEY,  -- the key that signed it
    token     TEXT NOT NULL,
    issued_at INTEGER NOT NULL
) STRICT;

-- Written to by the readiness check, to know that writing works.
CREATE TABLE probe (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    written INTEGER NOT NULL
) STRICT;
INSERT INTO probe (id, written) VALUES (1, 0);
