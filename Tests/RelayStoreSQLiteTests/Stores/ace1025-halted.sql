PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE migration (
    version    INTEGER PRIMARY KEY,  -- PRAGMA user_version after the step
    name       TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;
INSERT INTO migration VALUES(1,'the first schema',1795460692626);
INSERT INTO migration VALUES(2,'version codes, alerts, versions seen',1795460692626);
INSERT INTO migration VALUES(3,'pruned campaigns, the outbox of notifications',1795460692626);
INSERT INTO migration VALUES(4,'a compact ledger',1795460692626);
INSERT INTO migration VALUES(5,'campaigns in waves',1795460692626);
INSERT INTO migration VALUES(6,'pauses of provider tokens',1795460692626);
INSERT INTO migration VALUES(7,'shards and retries by push environment',1795460692626);
INSERT INTO migration VALUES(8,'apps of API tokens, digests of webhooks',1795460692626);
INSERT INTO migration VALUES(9,'what is in force, beside what is required',1795460692626);
INSERT INTO migration VALUES(10,'who obeyed, over time',1795460692626);
INSERT INTO migration VALUES(11,'campaigns that are sent again',1795460692626);
INSERT INTO migration VALUES(12,'texts of the latest version',1795460692626);
INSERT INTO migration VALUES(13,'versions that were withdrawn',1795460692626);
INSERT INTO migration VALUES(14,'campaigns that begin with a canary',1795460692626);
CREATE TABLE app (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    platform TEXT NOT NULL CHECK (platform IN ('ios', 'android')),
    devices  INTEGER NOT NULL DEFAULT 0 CHECK (devices >= 0),  -- registered and not removed; kept by the relay
    UNIQUE (name, platform)
) STRICT;
INSERT INTO app VALUES(1,'com.example.halted','android',8);
INSERT INTO app VALUES(2,'com.example.haltedCancelled','android',8);
INSERT INTO app VALUES(3,'com.example.haltedResumed','android',8);
INSERT INTO app VALUES(4,'com.example.haltedEarlier','android',8);
INSERT INTO app VALUES(5,'com.example.haltedOpenAgain','android',8);
INSERT INTO app VALUES(6,'com.example.haltedCompleted','android',8);
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
    updated_at   INTEGER NOT NULL DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)), latest_build INTEGER CHECK (latest_build BETWEEN 1 AND 2147483647), required_build INTEGER CHECK (required_build BETWEEN 1 AND 2147483647),
    PRIMARY KEY (app, platform)
) STRICT;
INSERT INTO version VALUES('com.example.halted','android','2.0','2.0','https://example.com/com.example.halted',NULL,NULL,'root (uid 0)','cli',1,1795440010000,NULL,NULL);
INSERT INTO version VALUES('com.example.haltedCancelled','android','2.0','2.0','https://example.com/com.example.haltedCancelled',NULL,NULL,'root (uid 0)','cli',1,1795440110000,NULL,NULL);
INSERT INTO version VALUES('com.example.haltedResumed','android','2.0','2.0','https://example.com/com.example.haltedResumed',NULL,NULL,'root (uid 0)','cli',1,1795440210000,NULL,NULL);
INSERT INTO version VALUES('com.example.haltedEarlier','android','2.0','2.0','https://example.com/com.example.haltedEarlier',NULL,NULL,'root (uid 0)','cli',2,1795440310000,NULL,NULL);
INSERT INTO version VALUES('com.example.haltedOpenAgain','android','2.0','2.0','https://example.com/com.example.haltedOpenAgain',NULL,NULL,'root (uid 0)','cli',1,1795440410000,NULL,NULL);
INSERT INTO version VALUES('com.example.haltedCompleted','android','2.0','2.0','https://example.com/com.example.haltedCompleted',NULL,NULL,'root (uid 0)','cli',1,1795440510000,NULL,NULL);
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
    updated_at   INTEGER NOT NULL, latest_build INTEGER, required_build INTEGER,
    PRIMARY KEY (app, platform, revision)
) STRICT, WITHOUT ROWID;
INSERT INTO version_history VALUES('com.example.halted','android',1,'2.0','2.0','https://example.com/com.example.halted',NULL,NULL,'root (uid 0)','cli',1795440010000,NULL,NULL);
INSERT INTO version_history VALUES('com.example.haltedCancelled','android',1,'2.0','2.0','https://example.com/com.example.haltedCancelled',NULL,NULL,'root (uid 0)','cli',1795440110000,NULL,NULL);
INSERT INTO version_history VALUES('com.example.haltedCompleted','android',1,'2.0','2.0','https://example.com/com.example.haltedCompleted',NULL,NULL,'root (uid 0)','cli',1795440510000,NULL,NULL);
INSERT INTO version_history VALUES('com.example.haltedEarlier','android',1,'1.9','1.9','https://example.com/com.example.haltedEarlier',NULL,NULL,'root (uid 0)','cli',1795440300000,NULL,NULL);
INSERT INTO version_history VALUES('com.example.haltedEarlier','android',2,'2.0','2.0','https://example.com/com.example.haltedEarlier',NULL,NULL,'root (uid 0)','cli',1795440310000,NULL,NULL);
INSERT INTO version_history VALUES('com.example.haltedOpenAgain','android',1,'2.0','2.0','https://example.com/com.example.haltedOpenAgain',NULL,NULL,'root (uid 0)','cli',1795440410000,NULL,NULL);
INSERT INTO version_history VALUES('com.example.haltedResumed','android',1,'2.0','2.0','https://example.com/com.example.haltedResumed',NULL,NULL,'root (uid 0)','cli',1795440210000,NULL,NULL);
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
    removed_at    INTEGER, planned_environment INTEGER CHECK (planned_environment IN (0, 1)),
    CHECK (removed_at IS NULL OR telephone IS NULL)
) STRICT;
INSERT INTO device VALUES(1,1,'halted-0000000000000000000000000000000000000000000000000000000000000000',179245262699204562,'13800000000','1.0',0,1795440000000,NULL,NULL,NULL);
INSERT INTO device VALUES(2,1,'halted-0000000000000000000000000000000000000000000000000000000000000001',179246362210832773,'13800000001','1.0',0,1795440000000,NULL,NULL,NULL);
INSERT INTO device VALUES(3,1,'halted-0000000000000000000000000000000000000000000000000000000000000002',179243063675948140,'13800000002','1.0',0,1795440000000,NULL,NULL,NULL);
INSERT INTO device VALUES(4,1,'halted-0000000000000000000000000000000000000000000000000000000000000003',179244163187576351,'13800000003','1.0',0,1795440000000,NULL,NULL,NULL);
INSERT INTO device VALUES(5,1,'halted-0000000000000000000000000000000000000000000000000000000000000004',179240864652691718,'13800000004','1.0',0,1795440000000,NULL,NULL,NULL);
INSERT INTO device VALUES(6,1,'halted-0000000000000000000000000000000000000000000000000000000000000005',179241964164319929,'13800000005','1.0',0,1795440000000,NULL,NULL,NULL);
INSERT INTO device VALUES(7,1,'halted-0000000000000000000000000000000000000000000000000000000000000006',179238665629435296,'13800000006','1.0',0,1795440000000,NULL,NULL,NULL);
INSERT INTO device VALUES(8,1,'halted-0000000000000000000000000000000000000000000000000000000000000007',179239765141063507,'13800000007','1.0',0,1795440000000,NULL,NULL,NULL);
INSERT INTO device VALUES(9,2,'haltedCancelled-0000000000000000000000000000000000000000000000000000000000000000',-5098967985978776243,'13800000000','1.0',0,1795440100000,NULL,NULL,NULL);
INSERT INTO device VALUES(10,2,'haltedCancelled-0000000000000000000000000000000000000000000000000000000000000001',-5098969085490404454,'13800000001','1.0',0,1795440100000,NULL,NULL,NULL);
INSERT INTO device VALUES(11,2,'haltedCancelled-0000000000000000000000000000000000000000000000000000000000000002',-5098970185002032665,'13800000002','1.0',0,1795440100000,NULL,NULL,NULL);
INSERT INTO device VALUES(12,2,'haltedCancelled-0000000000000000000000000000000000000000000000000000000000000003',-5098971284513660876,'13800000003','1.0',0,1795440100000,NULL,NULL,NULL);
INSERT INTO device VALUES(13,2,'haltedCancelled-0000000000000000000000000000000000000000000000000000000000000004',-5098972384025289087,'13800000004','1.0',0,1795440100000,NULL,NULL,NULL);
INSERT INTO device VALUES(14,2,'haltedCancelled-0000000000000000000000000000000000000000000000000000000000000005',-5098973483536917298,'13800000005','1.0',0,1795440100000,NULL,NULL,NULL);
INSERT INTO device VALUES(15,2,'haltedCancelled-0000000000000000000000000000000000000000000000000000000000000006',-5098974583048545509,'13800000006','1.0',0,1795440100000,NULL,NULL,NULL);
INSERT INTO device VALUES(16,2,'haltedCancelled-0000000000000000000000000000000000000000000000000000000000000007',-5098975682560173720,'13800000007','1.0',0,1795440100000,NULL,NULL,NULL);
INSERT INTO device VALUES(17,3,'haltedResumed-0000000000000000000000000000000000000000000000000000000000000000',1710869200814724451,'13800000000','1.0',0,1795440200000,NULL,NULL,NULL);
INSERT INTO device VALUES(18,3,'haltedResumed-0000000000000000000000000000000000000000000000000000000000000001',1710868101303096240,'13800000001','1.0',0,1795440200000,NULL,NULL,NULL);
INSERT INTO device VALUES(19,3,'haltedResumed-0000000000000000000000000000000000000000000000000000000000000002',1710871399837980873,'13800000002','1.0',0,1795440200000,NULL,NULL,NULL);
INSERT INTO device VALUES(20,3,'haltedResumed-0000000000000000000000000000000000000000000000000000000000000003',1710870300326352662,'13800000003','1.0',0,1795440200000,NULL,NULL,NULL);
INSERT INTO device VALUES(21,3,'haltedResumed-0000000000000000000000000000000000000000000000000000000000000004',1710873598861237295,'13800000004','1.0',0,1795440200000,NULL,NULL,NULL);
INSERT INTO device VALUES(22,3,'haltedResumed-0000000000000000000000000000000000000000000000000000000000000005',1710872499349609084,'13800000005','1.0',0,1795440200000,NULL,NULL,NULL);
INSERT INTO device VALUES(23,3,'haltedResumed-0000000000000000000000000000000000000000000000000000000000000006',1710875797884493717,'13800000006','1.0',0,1795440200000,NULL,NULL,NULL);
INSERT INTO device VALUES(24,3,'haltedResumed-0000000000000000000000000000000000000000000000000000000000000007',1710874698372865506,'13800000007','1.0',0,1795440200000,NULL,NULL,NULL);
INSERT INTO device VALUES(25,4,'haltedEarlier-0000000000000000000000000000000000000000000000000000000000000000',824858395845459256,'13800000000','1.0',0,1795440300000,NULL,NULL,NULL);
INSERT INTO device VALUES(26,4,'haltedEarlier-0000000000000000000000000000000000000000000000000000000000000001',824859495357087467,'13800000001','1.0',0,1795440300000,NULL,NULL,NULL);
INSERT INTO device VALUES(27,4,'haltedEarlier-0000000000000000000000000000000000000000000000000000000000000002',824860594868715678,'13800000002','1.0',0,1795440300000,NULL,NULL,NULL);
INSERT INTO device VALUES(28,4,'haltedEarlier-0000000000000000000000000000000000000000000000000000000000000003',824861694380343889,'13800000003','1.0',0,1795440300000,NULL,NULL,NULL);
INSERT INTO device VALUES(29,4,'haltedEarlier-0000000000000000000000000000000000000000000000000000000000000004',824862793891972100,'13800000004','1.0',0,1795440300000,NULL,NULL,NULL);
INSERT INTO device VALUES(30,4,'haltedEarlier-0000000000000000000000000000000000000000000000000000000000000005',824863893403600311,'13800000005','1.0',0,1795440300000,NULL,NULL,NULL);
INSERT INTO device VALUES(31,4,'haltedEarlier-0000000000000000000000000000000000000000000000000000000000000006',824864992915228522,'13800000006','1.0',0,1795440300000,NULL,NULL,NULL);
INSERT INTO device VALUES(32,4,'haltedEarlier-0000000000000000000000000000000000000000000000000000000000000007',824866092426856733,'13800000007','1.0',0,1795440300000,NULL,NULL,NULL);
INSERT INTO device VALUES(33,5,'haltedOpenAgain-0000000000000000000000000000000000000000000000000000000000000000',932460906008716664,'13800000000','1.0',0,1795440400000,NULL,NULL,NULL);
INSERT INTO device VALUES(34,5,'haltedOpenAgain-0000000000000000000000000000000000000000000000000000000000000001',932462005520344875,'13800000001','1.0',0,1795440400000,NULL,NULL,NULL);
INSERT INTO device VALUES(35,5,'haltedOpenAgain-0000000000000000000000000000000000000000000000000000000000000002',932463105031973086,'13800000002','1.0',0,1795440400000,NULL,NULL,NULL);
INSERT INTO device VALUES(36,5,'haltedOpenAgain-0000000000000000000000000000000000000000000000000000000000000003',932464204543601297,'13800000003','1.0',0,1795440400000,NULL,NULL,NULL);
INSERT INTO device VALUES(37,5,'haltedOpenAgain-0000000000000000000000000000000000000000000000000000000000000004',932465304055229508,'13800000004','1.0',0,1795440400000,NULL,NULL,NULL);
INSERT INTO device VALUES(38,5,'haltedOpenAgain-0000000000000000000000000000000000000000000000000000000000000005',932466403566857719,'13800000005','1.0',0,1795440400000,NULL,NULL,NULL);
INSERT INTO device VALUES(39,5,'haltedOpenAgain-0000000000000000000000000000000000000000000000000000000000000006',932467503078485930,'13800000006','1.0',0,1795440400000,NULL,NULL,NULL);
INSERT INTO device VALUES(40,5,'haltedOpenAgain-0000000000000000000000000000000000000000000000000000000000000007',932468602590114141,'13800000007','1.0',0,1795440400000,NULL,NULL,NULL);
INSERT INTO device VALUES(41,6,'haltedCompleted-0000000000000000000000000000000000000000000000000000000000000000',-4608586821478313349,'13800000000','1.0',0,1795440500000,NULL,NULL,NULL);
INSERT INTO device VALUES(42,6,'haltedCompleted-0000000000000000000000000000000000000000000000000000000000000001',-4608587920989941560,'13800000001','1.0',0,1795440500000,NULL,NULL,NULL);
INSERT INTO device VALUES(43,6,'haltedCompleted-0000000000000000000000000000000000000000000000000000000000000002',-4608584622455056927,'13800000002','1.0',0,1795440500000,NULL,NULL,NULL);
INSERT INTO device VALUES(44,6,'haltedCompleted-0000000000000000000000000000000000000000000000000000000000000003',-4608585721966685138,'13800000003','1.0',0,1795440500000,NULL,NULL,NULL);
INSERT INTO device VALUES(45,6,'haltedCompleted-0000000000000000000000000000000000000000000000000000000000000004',-4608582423431800505,'13800000004','1.0',0,1795440500000,NULL,NULL,NULL);
INSERT INTO device VALUES(46,6,'haltedCompleted-0000000000000000000000000000000000000000000000000000000000000005',-4608583522943428716,'13800000005','1.0',0,1795440500000,NULL,NULL,NULL);
INSERT INTO device VALUES(47,6,'haltedCompleted-0000000000000000000000000000000000000000000000000000000000000006',-4608580224408544083,'13800000006','1.0',0,1795440500000,NULL,NULL,NULL);
INSERT INTO device VALUES(48,6,'haltedCompleted-0000000000000000000000000000000000000000000000000000000000000007',-4608581323920172294,'13800000007','1.0',0,1795440500000,NULL,NULL,NULL);
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
    upgraded           INTEGER NOT NULL DEFAULT 0 CHECK (upgraded >= 0), pruned_at INTEGER, required_build INTEGER, upgraded_push INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_push >= 0), upgraded_login INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_login >= 0), upgraded_both INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_both >= 0), told INTEGER NOT NULL DEFAULT 0 CHECK (told >= 0), canary TEXT CHECK (canary IN ('alone', 'released')), canary_ended_at INTEGER,
    CHECK ((finished_at IS NOT NULL) = (state IN ('completed', 'cancelled', 'superseded'))),
    UNIQUE (app_id, required_canonical)   -- a rise makes exactly one campaign
) STRICT;
INSERT INTO campaign VALUES(1,'f3491cbf7f85',1,'2.0','2','2.0','https://example.com/com.example.halted',NULL,NULL,'suspended','the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440010000,1795440011000,NULL,1796044811000,1795440012000,4,0,0,0,0,0,0,0,NULL,NULL,0,0,0,0,NULL,NULL);
INSERT INTO campaign VALUES(2,'28f9f1703ebb',2,'2.0','2','2.0','https://example.com/com.example.haltedCancelled',NULL,NULL,'cancelled','cancelled by root (uid 0)',1795440110000,1795440111000,1795440130000,1796044911000,1795440112000,4,0,0,0,0,0,4,0,NULL,NULL,0,0,0,0,NULL,NULL);
INSERT INTO campaign VALUES(3,'bad494496869',3,'2.0','2','2.0','https://example.com/com.example.haltedResumed',NULL,NULL,'running',NULL,1795440210000,1795440211000,NULL,1796045011000,1795440212000,4,0,0,0,0,0,0,0,NULL,NULL,0,0,0,0,NULL,NULL);
INSERT INTO campaign VALUES(4,'6d736605b62d',4,'1.9','1.9','1.9','https://example.com/com.example.haltedEarlier',NULL,NULL,'completed',NULL,1795440300000,1795440301000,1795440302000,1796045101000,1795440302000,8,0,0,0,0,0,0,0,NULL,NULL,0,0,0,0,NULL,NULL);
INSERT INTO campaign VALUES(5,'92cd11800ca6',4,'2.0','2','2.0','https://example.com/com.example.haltedEarlier',NULL,NULL,'suspended','the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440310000,1795440311000,NULL,1796045111000,1795440312000,4,0,0,0,0,0,0,0,NULL,NULL,0,0,0,0,NULL,NULL);
INSERT INTO campaign VALUES(6,'fc19423194a6',5,'2.0','2','2.0','https://example.com/com.example.haltedOpenAgain',NULL,NULL,'running',NULL,1795440410000,1795440411000,NULL,1796045211000,1795440412000,4,0,0,0,0,0,0,0,NULL,NULL,0,0,0,0,NULL,NULL);
INSERT INTO campaign VALUES(7,'88c52a294c19',6,'2.0','2','2.0','https://example.com/com.example.haltedCompleted',NULL,NULL,'completed',NULL,1795440510000,1795440511000,1795440512000,1796045311000,1795440512000,8,0,0,0,0,0,0,0,NULL,NULL,0,0,0,0,NULL,NULL);
CREATE TABLE campaign_reason (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    kind        TEXT NOT NULL CHECK (kind IN ('filtered', 'rejected')),
    reason      TEXT NOT NULL,
    devices     INTEGER NOT NULL CHECK (devices >= 0),
    PRIMARY KEY (campaign_id, kind, reason)
) STRICT, WITHOUT ROWID;
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
    done        INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1)), wave INTEGER NOT NULL DEFAULT 0, environment INTEGER NOT NULL DEFAULT 0 CHECK (environment IN (0, 1)), packs INTEGER NOT NULL DEFAULT 1 CHECK (packs IN (0, 1)), rest INTEGER CHECK (rest IN (6, 8)),
    CHECK ((lease_owner IS NULL) = (lease_until IS NULL)),
    CHECK (cursor <= last),
    PRIMARY KEY (campaign_id, number)
) STRICT, WITHOUT ROWID;
INSERT INTO shard VALUES(1,0,4,8,4,NULL,NULL,0,0,0,1,NULL);
INSERT INTO shard VALUES(2,0,12,16,4,NULL,NULL,1,0,0,1,8);
INSERT INTO shard VALUES(3,0,20,24,4,NULL,NULL,0,0,0,1,NULL);
INSERT INTO shard VALUES(4,0,32,32,0,NULL,NULL,1,0,0,1,NULL);
INSERT INTO shard VALUES(5,0,28,32,4,NULL,NULL,0,0,0,1,NULL);
INSERT INTO shard VALUES(6,0,36,40,4,NULL,NULL,0,0,0,1,NULL);
INSERT INTO shard VALUES(7,0,48,48,0,NULL,NULL,1,0,0,1,NULL);
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
    upgraded        INTEGER NOT NULL DEFAULT 0 CHECK (upgraded IN (0, 1)), environment INTEGER NOT NULL DEFAULT 0 CHECK (environment IN (0, 1)), again INTEGER NOT NULL DEFAULT 0 CHECK (again BETWEEN 0 AND 3),  -- counted in campaign.upgraded
    CHECK ((next_attempt_at IS NOT NULL) = (state = 3)),
    PRIMARY KEY (campaign_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE webhook (
    hook        TEXT NOT NULL,
    id          TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    status      INTEGER NOT NULL CHECK (status BETWEEN 100 AND 599),
    body        BLOB NOT NULL, digest INTEGER,
    PRIMARY KEY (hook, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE access_token (
    name       TEXT PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),  -- SHA-256 of the secret
    scopes     TEXT NOT NULL,                                   -- separated by spaces
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
, apps TEXT) STRICT;
CREATE TABLE provider_token (
    key       TEXT PRIMARY KEY,  -- the key that signed it
    token     TEXT NOT NULL,
    issued_at INTEGER NOT NULL
, paused_until INTEGER) STRICT;
CREATE TABLE probe (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    written INTEGER NOT NULL
) STRICT;
INSERT INTO probe VALUES(1,0);
CREATE TABLE release (
    id             INTEGER PRIMARY KEY,
    name           TEXT NOT NULL,     -- as --version prints it; 'unknown': before releases were noted
    schema_version INTEGER NOT NULL,  -- the newest that it knows, and brought the store to
    opened_at      INTEGER NOT NULL
) STRICT;
INSERT INTO "release" VALUES(1,'unknown',14,1795460692626);
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
CREATE TABLE version_seen (
    app_id  INTEGER NOT NULL REFERENCES app (id),
    version TEXT NOT NULL,  -- as the devices spell it; empty: unknown
    devices INTEGER NOT NULL,
    PRIMARY KEY (app_id, version)
) STRICT, WITHOUT ROWID;
INSERT INTO version_seen VALUES(1,'1.0',8);
INSERT INTO version_seen VALUES(2,'1.0',8);
INSERT INTO version_seen VALUES(3,'1.0',8);
INSERT INTO version_seen VALUES(4,'1.0',8);
INSERT INTO version_seen VALUES(5,'1.0',8);
INSERT INTO version_seen VALUES(6,'1.0',8);
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
, in_force TEXT) STRICT;
INSERT INTO campaign_event VALUES(1,'ac7e62c7b07c76f38ea71c4062db686c',1,1795440010000,'waiting','not offered yet',NULL,NULL,1796044810000,NULL,8,0,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(2,'5085961526b1797d7984d0008a406f48',1,1795460692670,'running',NULL,1795440011000,NULL,1796044811000,NULL,8,0,0,0,0,0,0,0,0,'[]','2.0');
INSERT INTO campaign_event VALUES(3,'730a4766cf5c3779523c94848ace3de1',1,1795460692675,'suspended','the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440011000,NULL,1796044811000,1795440012000,4,4,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(4,'e1839d3b5fe55ddeeeec404e37f4d752',2,1795440110000,'waiting','not offered yet',NULL,NULL,1796044910000,NULL,8,0,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(5,'e22f40613622ed9546b9743d93afddd6',2,1795460692677,'running',NULL,1795440111000,NULL,1796044911000,NULL,8,0,0,0,0,0,0,0,0,'[]','2.0');
INSERT INTO campaign_event VALUES(6,'6a03218a9a9da704b197b49538362bc8',2,1795460692677,'suspended','the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440111000,NULL,1796044911000,1795440112000,4,4,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(7,'f383ad81b172ff4a4b1d5038551067be',2,1795440130000,'cancelled','cancelled by root (uid 0)',1795440111000,1795440130000,1796044911000,1795440112000,0,4,0,0,0,0,0,4,0,'[]',NULL);
INSERT INTO campaign_event VALUES(8,'bc69113fcd0b8b40d8899e165bacdfdc',3,1795440210000,'waiting','not offered yet',NULL,NULL,1796045010000,NULL,8,0,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(9,'2d0b5ac51f7c7c9688f57ea419ac8d31',3,1795460692680,'running',NULL,1795440211000,NULL,1796045011000,NULL,8,0,0,0,0,0,0,0,0,'[]','2.0');
INSERT INTO campaign_event VALUES(10,'0c5ba31d906acc01c32b6c118cdea7de',3,1795460692683,'suspended','the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440211000,NULL,1796045011000,1795440212000,4,4,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(11,'4dd64984732d32a91f69626b8af3604c',3,1795460692683,'running',NULL,1795440211000,NULL,1796045011000,1795440212000,4,4,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(12,'27649c0bdfda48a74b0e293879803df2',4,1795440300000,'waiting','not offered yet',NULL,NULL,1796045100000,NULL,8,0,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(13,'ab485c861297c9d960077401468f4a93',4,1795460692684,'running',NULL,1795440301000,NULL,1796045101000,NULL,8,0,0,0,0,0,0,0,0,'[]','1.9');
INSERT INTO campaign_event VALUES(14,'337241700c620766032c9b27b8a347a5',4,1795440302000,'completed',NULL,1795440301000,1795440302000,1796045101000,1795440302000,0,8,0,0,0,0,0,0,0,'[]','1.9');
INSERT INTO campaign_event VALUES(15,'f07b401b8f7747f9ed6ca3112cbe70ef',5,1795440310000,'waiting','not offered yet',NULL,NULL,1796045110000,NULL,8,0,0,0,0,0,0,0,0,'[]','1.9');
INSERT INTO campaign_event VALUES(16,'44a14ee5a7129618ab09f33650fe1377',5,1795460692687,'running',NULL,1795440311000,NULL,1796045111000,NULL,8,0,0,0,0,0,0,0,0,'[]','2.0');
INSERT INTO campaign_event VALUES(17,'bf3a8bb223c96fa16d4c960adbc455c2',5,1795460692690,'suspended','the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440311000,NULL,1796045111000,1795440312000,4,4,0,0,0,0,0,0,0,'[]','1.9');
INSERT INTO campaign_event VALUES(18,'d878137d618225b0c412affc678eaa48',6,1795440410000,'waiting','not offered yet',NULL,NULL,1796045210000,NULL,8,0,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(19,'c6db3d8bf1593965e5eee0cdec9a679f',6,1795460692691,'running',NULL,1795440411000,NULL,1796045211000,NULL,8,0,0,0,0,0,0,0,0,'[]','2.0');
INSERT INTO campaign_event VALUES(20,'1a5fe20a70bf2d5bf27e4176c6f3db18',6,1795460692693,'suspended','the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440411000,NULL,1796045211000,1795440412000,4,4,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(21,'a42591d618a56c3e1b05ae2145a39d19',6,1795460692694,'running',NULL,1795440411000,NULL,1796045211000,1795440412000,4,4,0,0,0,0,0,0,0,'[]','2.0');
INSERT INTO campaign_event VALUES(22,'728c1d1c9fa91e1b918ef410a86f4626',7,1795440510000,'waiting','not offered yet',NULL,NULL,1796045310000,NULL,8,0,0,0,0,0,0,0,0,'[]',NULL);
INSERT INTO campaign_event VALUES(23,'f8235ba70d70fbe1a93e4bac84b098fe',7,1795460692698,'running',NULL,1795440511000,NULL,1796045311000,NULL,8,0,0,0,0,0,0,0,0,'[]','2.0');
INSERT INTO campaign_event VALUES(24,'940f176342f4387fc37fa6cc539e07bf',7,1795440512000,'completed',NULL,1795440511000,1795440512000,1796045311000,1795440512000,0,8,0,0,0,0,0,0,0,'[]','2.0');
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
CREATE TABLE notification_attempt (
    notification_id INTEGER NOT NULL REFERENCES notification (id) ON DELETE CASCADE,
    number          INTEGER NOT NULL,
    at              INTEGER NOT NULL,
    milliseconds    INTEGER NOT NULL,
    status          INTEGER,
    error           TEXT,
    PRIMARY KEY (notification_id, number)
) STRICT, WITHOUT ROWID;
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
INSERT INTO delivery_batch VALUES(1,4,1,1795440012000,4,0,X'00000000',X'0c31333830303030303030300c31333830303030303030310c31333830303030303030320c3133383030303030303033');
INSERT INTO delivery_batch VALUES(2,12,9,1795440112000,4,0,X'00000000',X'0c31333830303030303030300c31333830303030303030310c31333830303030303030320c3133383030303030303033');
INSERT INTO delivery_batch VALUES(3,20,17,1795440212000,4,0,X'00000000',X'0c31333830303030303030300c31333830303030303030310c31333830303030303030320c3133383030303030303033');
INSERT INTO delivery_batch VALUES(4,32,25,1795440302000,8,0,X'0000000000000000',X'0c31333830303030303030300c31333830303030303030310c31333830303030303030320c31333830303030303030330c31333830303030303030340c31333830303030303030350c31333830303030303030360c3133383030303030303037');
INSERT INTO delivery_batch VALUES(5,28,25,1795440312000,4,0,X'00000000',X'0c31333830303030303030300c31333830303030303030310c31333830303030303030320c3133383030303030303033');
INSERT INTO delivery_batch VALUES(6,36,33,1795440412000,4,0,X'00000000',X'0c31333830303030303030300c31333830303030303030310c31333830303030303030320c3133383030303030303033');
INSERT INTO delivery_batch VALUES(7,48,41,1795440512000,8,0,X'0000000000000000',X'0c31333830303030303030300c31333830303030303030310c31333830303030303030320c31333830303030303030330c31333830303030303030340c31333830303030303030350c31333830303030303030360c3133383030303030303037');
CREATE TABLE delivery_upgrade (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    device_id   INTEGER NOT NULL REFERENCES device (id),
    PRIMARY KEY (campaign_id, device_id)
) STRICT, WITHOUT ROWID;
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
    changed_from   TEXT NOT NULL, latest_url TEXT, latest_message TEXT,
    CHECK ((telephones IS NOT NULL) = (canary = 1)),
    PRIMARY KEY (app, platform, canary)
) STRICT, WITHOUT ROWID;
INSERT INTO in_force VALUES('com.example.halted','android',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440020000,'googlePlay','gate',NULL,NULL);
INSERT INTO in_force VALUES('com.example.haltedCancelled','android',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440120000,'googlePlay','gate',NULL,NULL);
INSERT INTO in_force VALUES('com.example.haltedCompleted','android',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440520000,'googlePlay','gate',NULL,NULL);
INSERT INTO in_force VALUES('com.example.haltedEarlier','android',0,'1.9',NULL,'1.9',NULL,'https://example.com/com.example.haltedEarlier',NULL,NULL,1795440301000,'googlePlay','the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440320000,'googlePlay','gate','https://example.com/com.example.haltedEarlier',NULL);
INSERT INTO in_force VALUES('com.example.haltedOpenAgain','android',0,'2.0',NULL,'2.0',NULL,'https://example.com/com.example.haltedOpenAgain',NULL,NULL,1795440430000,'googlePlay','offered to all',1795440430000,'googlePlay','gate','https://example.com/com.example.haltedOpenAgain',NULL);
INSERT INTO in_force VALUES('com.example.haltedResumed','android',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440220000,'googlePlay','gate',NULL,NULL);
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
, latest_url TEXT, latest_message TEXT) STRICT;
INSERT INTO in_force_history VALUES(1,'com.example.halted','android',0,'2.0',NULL,'2.0',NULL,'https://example.com/com.example.halted',NULL,NULL,1795440011000,'googlePlay','offered to all',1795440011000,'googlePlay','gate','https://example.com/com.example.halted',NULL);
INSERT INTO in_force_history VALUES(2,'com.example.halted','android',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440020000,'googlePlay','gate',NULL,NULL);
INSERT INTO in_force_history VALUES(3,'com.example.haltedCancelled','android',0,'2.0',NULL,'2.0',NULL,'https://example.com/com.example.haltedCancelled',NULL,NULL,1795440111000,'googlePlay','offered to all',1795440111000,'googlePlay','gate','https://example.com/com.example.haltedCancelled',NULL);
INSERT INTO in_force_history VALUES(4,'com.example.haltedCancelled','android',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440120000,'googlePlay','gate',NULL,NULL);
INSERT INTO in_force_history VALUES(5,'com.example.haltedResumed','android',0,'2.0',NULL,'2.0',NULL,'https://example.com/com.example.haltedResumed',NULL,NULL,1795440211000,'googlePlay','offered to all',1795440211000,'googlePlay','gate','https://example.com/com.example.haltedResumed',NULL);
INSERT INTO in_force_history VALUES(6,'com.example.haltedResumed','android',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440220000,'googlePlay','gate',NULL,NULL);
INSERT INTO in_force_history VALUES(7,'com.example.haltedEarlier','android',0,'1.9',NULL,'1.9',NULL,'https://example.com/com.example.haltedEarlier',NULL,NULL,1795440301000,'googlePlay','offered to all',1795440301000,'googlePlay','gate','https://example.com/com.example.haltedEarlier',NULL);
INSERT INTO in_force_history VALUES(8,'com.example.haltedEarlier','android',0,'2.0',NULL,'2.0',NULL,'https://example.com/com.example.haltedEarlier',NULL,NULL,1795440311000,'googlePlay','offered to all',1795440311000,'googlePlay','gate','https://example.com/com.example.haltedEarlier',NULL);
INSERT INTO in_force_history VALUES(9,'com.example.haltedEarlier','android',0,'1.9',NULL,'1.9',NULL,'https://example.com/com.example.haltedEarlier',NULL,NULL,1795440301000,'googlePlay','the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440320000,'googlePlay','gate','https://example.com/com.example.haltedEarlier',NULL);
INSERT INTO in_force_history VALUES(10,'com.example.haltedOpenAgain','android',0,'2.0',NULL,'2.0',NULL,'https://example.com/com.example.haltedOpenAgain',NULL,NULL,1795440411000,'googlePlay','offered to all',1795440411000,'googlePlay','gate','https://example.com/com.example.haltedOpenAgain',NULL);
INSERT INTO in_force_history VALUES(11,'com.example.haltedOpenAgain','android',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440420000,'googlePlay','gate',NULL,NULL);
INSERT INTO in_force_history VALUES(12,'com.example.haltedOpenAgain','android',0,'2.0',NULL,'2.0',NULL,'https://example.com/com.example.haltedOpenAgain',NULL,NULL,1795440430000,'googlePlay','offered to all',1795440430000,'googlePlay','gate','https://example.com/com.example.haltedOpenAgain',NULL);
INSERT INTO in_force_history VALUES(13,'com.example.haltedCompleted','android',0,'2.0',NULL,'2.0',NULL,'https://example.com/com.example.haltedCompleted',NULL,NULL,1795440511000,'googlePlay','offered to all',1795440511000,'googlePlay','gate','https://example.com/com.example.haltedCompleted',NULL);
INSERT INTO in_force_history VALUES(14,'com.example.haltedCompleted','android',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'the rollout of 2.0 is halted in Google Play, at 50 % of users',1795440520000,'googlePlay','gate',NULL,NULL);
CREATE TABLE campaign_told (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    device_id   INTEGER NOT NULL REFERENCES device (id),
    PRIMARY KEY (campaign_id, device_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE campaign_adoption (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    at          INTEGER NOT NULL,
    upgraded    INTEGER NOT NULL CHECK (upgraded > 0),
    PRIMARY KEY (campaign_id, at)
) STRICT, WITHOUT ROWID;
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
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('campaign_event',24);
CREATE TRIGGER version_stays BEFORE DELETE ON version BEGIN
    SELECT RAISE(ABORT, 'versions only rise: a version row is never deleted');
END;
CREATE TRIGGER version_history_is_not_edited BEFORE UPDATE ON version_history BEGIN
    SELECT RAISE(ABORT, 'the history of versions is not edited');
END;
CREATE TRIGGER version_history_is_not_deleted BEFORE DELETE ON version_history BEGIN
    SELECT RAISE(ABORT, 'the history of versions is not deleted');
END;
CREATE INDEX device_token ON device (token_hash);
CREATE INDEX device_telephone ON device (telephone) WHERE telephone IS NOT NULL;
CREATE INDEX device_live ON device (app_id) WHERE removed_at IS NULL;
CREATE INDEX delivery_rare ON delivery (campaign_id, state) WHERE state > 2 AND state <> 7;
CREATE INDEX webhook_received ON webhook (received_at);
CREATE TRIGGER version_updated_unsigned AFTER UPDATE ON version
    WHEN NEW.revision = OLD.revision
        AND (NEW.latest IS NOT OLD.latest OR NEW.required IS NOT OLD.required
             OR NEW.download_url IS NOT OLD.download_url OR NEW.message IS NOT OLD.message
             OR NEW.telephones IS NOT OLD.telephones OR NEW.latest_build IS NOT OLD.latest_build
             OR NEW.required_build IS NOT OLD.required_build)
BEGIN
    UPDATE version SET revision = revision + 1, changed_by = 'unknown', changed_from = 'database', updated_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
        latest = CASE WHEN required IS NOT NULL AND (latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0))
                      THEN required ELSE latest END
        WHERE app = NEW.app AND platform = NEW.platform;
END;
CREATE TRIGGER version_updated_signed AFTER UPDATE ON version WHEN NEW.revision <> OLD.revision BEGIN
    SELECT RAISE(ABORT, 'revision counts up by one')
        WHERE NEW.revision <> OLD.revision + 1 AND OLD.revision <> 0;
    SELECT RAISE(ABORT, 'latest must not be older than required')
        WHERE NEW.required IS NOT NULL
            AND (NEW.latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(NEW.required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    INSERT INTO version_history (app, platform, revision, latest, required, download_url, message, telephones,
                                 changed_by, changed_from, updated_at, latest_build, required_build)
        VALUES (NEW.app, NEW.platform, NEW.revision, NEW.latest, NEW.required, NEW.download_url, NEW.message,
                NEW.telephones, NEW.changed_by, NEW.changed_from, NEW.updated_at, NEW.latest_build,
                NEW.required_build);
END;
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
CREATE INDEX notification_due ON notification (receiver_id, next_attempt_at, event_id) WHERE state = 'pending';
CREATE INDEX notification_ended ON notification (ended_at) WHERE ended_at IS NOT NULL;
CREATE TRIGGER delivery_batches_are_apart BEFORE INSERT ON delivery_batch BEGIN
    SELECT RAISE(ABORT, 'batches of a campaign do not overlap')
        WHERE (SELECT first FROM delivery_batch WHERE campaign_id = NEW.campaign_id AND last >= NEW.first
               ORDER BY last LIMIT 1) <= NEW.last;
END;
CREATE TRIGGER delivery_batch_is_not_edited BEFORE UPDATE ON delivery_batch BEGIN
    SELECT RAISE(ABORT, 'a batch is never changed: it becomes rows of delivery');
END;
CREATE INDEX device_sandbox ON device (app_id)
    WHERE coalesce(planned_environment, environment) = 1 AND removed_at IS NULL;
CREATE INDEX device_moved ON device (app_id) WHERE planned_environment IS NOT NULL;
CREATE INDEX shard_open ON shard (campaign_id, environment, number, remaining) WHERE done = 0;
CREATE INDEX delivery_retry ON delivery (campaign_id, environment, next_attempt_at) WHERE state = 3;
CREATE INDEX in_force_history_of_app ON in_force_history (app, platform, canary, id);
CREATE TRIGGER in_force_history_is_not_edited BEFORE UPDATE ON in_force_history BEGIN
    SELECT RAISE(ABORT, 'the history of what was in force is not edited');
END;
CREATE TRIGGER in_force_history_is_not_deleted BEFORE DELETE ON in_force_history BEGIN
    SELECT RAISE(ABORT, 'the history of what was in force is not deleted');
END;
CREATE INDEX campaign_open ON campaign (app_id) WHERE state NOT IN ('completed', 'cancelled', 'superseded');
CREATE TRIGGER campaign_event_in_force AFTER INSERT ON campaign_event BEGIN
    UPDATE campaign_event SET in_force = (
        SELECT f.required FROM campaign AS c JOIN app AS a ON a.id = c.app_id
            JOIN in_force AS f ON f.app = a.name AND f.platform = a.platform AND f.canary = 0
        WHERE c.id = NEW.campaign_id)
    WHERE id = NEW.id;
END;
CREATE TRIGGER in_force_inserted AFTER INSERT ON in_force BEGIN
    INSERT INTO in_force_history (app, platform, canary, required, required_build, latest, latest_build, download_url,
            message, telephones, since, opened_by, reason, changed_at, changed_by, changed_from, latest_url,
            latest_message)
        VALUES (NEW.app, NEW.platform, NEW.canary, NEW.required, NEW.required_build, NEW.latest, NEW.latest_build,
            NEW.download_url, NEW.message, NEW.telephones, NEW.since, NEW.opened_by, NEW.reason, NEW.changed_at,
            NEW.changed_by, NEW.changed_from, NEW.latest_url, NEW.latest_message);
END;
CREATE TRIGGER in_force_updated AFTER UPDATE ON in_force BEGIN
    INSERT INTO in_force_history (app, platform, canary, required, required_build, latest, latest_build, download_url,
            message, telephones, since, opened_by, reason, changed_at, changed_by, changed_from, latest_url,
            latest_message)
        VALUES (NEW.app, NEW.platform, NEW.canary, NEW.required, NEW.required_build, NEW.latest, NEW.latest_build,
            NEW.download_url, NEW.message, NEW.telephones, NEW.since, NEW.opened_by, NEW.reason, NEW.changed_at,
            NEW.changed_by, NEW.changed_from, NEW.latest_url, NEW.latest_message);
END;
CREATE TRIGGER version_rises AFTER UPDATE ON version BEGIN
    SELECT RAISE(ABORT, 'versions only rise: required would fall')
        WHERE NOT (NEW.changed_from = 'withdraw' AND NEW.revision = OLD.revision + 1) AND OLD.required IS NOT NULL AND (NEW.required IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(OLD.required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'versions only rise: latest would fall')
        WHERE NOT (NEW.changed_from = 'withdraw' AND NEW.revision = OLD.revision + 1) AND OLD.latest IS NOT NULL AND (NEW.latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(OLD.latest, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'a version row keeps its app and platform')
        WHERE NEW.app <> OLD.app OR NEW.platform <> OLD.platform;
    SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
        WHERE EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18)
            OR EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18);
END;
CREATE TRIGGER version_builds_rise AFTER UPDATE ON version WHEN NOT (NEW.changed_from = 'withdraw' AND NEW.revision = OLD.revision + 1) BEGIN
    SELECT RAISE(ABORT, 'version codes only rise: latest_build would fall')
        WHERE OLD.latest_build IS NOT NULL AND coalesce(NEW.latest_build < OLD.latest_build, 1);
    SELECT RAISE(ABORT, 'version codes only rise: required_build would fall')
        WHERE OLD.required_build IS NOT NULL AND coalesce(NEW.required_build < OLD.required_build, 1);
END;
CREATE TRIGGER version_inserted_unsigned AFTER INSERT ON version WHEN NEW.revision = 0 BEGIN
    SELECT RAISE(ABORT, 'versions only rise: required would fall')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.revision = (SELECT max(h.revision) FROM version_history AS h
                                WHERE h.app = NEW.app AND h.platform = NEW.platform)
            AND old.required IS NOT NULL AND (NEW.required IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(old.required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'versions only rise: latest would fall')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.revision = (SELECT max(h.revision) FROM version_history AS h
                                WHERE h.app = NEW.app AND h.platform = NEW.platform)
            AND old.latest IS NOT NULL AND (NEW.latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(old.latest, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'version codes only rise: a build would fall')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.revision = (SELECT max(h.revision) FROM version_history AS h
                                WHERE h.app = NEW.app AND h.platform = NEW.platform)
            AND (old.latest_build IS NOT NULL AND coalesce(NEW.latest_build < old.latest_build, 1)
                 OR old.required_build IS NOT NULL AND coalesce(NEW.required_build < old.required_build, 1));
    SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
        WHERE EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18)
            OR EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18);
    UPDATE version SET changed_by = 'unknown', changed_from = 'database', updated_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
        latest = CASE WHEN required IS NOT NULL AND (latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0))
                      THEN required ELSE latest END,
        revision = 1 + (SELECT coalesce(max(h.revision), 0) FROM version_history AS h
                        WHERE h.app = NEW.app AND h.platform = NEW.platform)
        WHERE app = NEW.app AND platform = NEW.platform;
END;
CREATE TRIGGER version_inserted_signed AFTER INSERT ON version WHEN NEW.revision <> 0 BEGIN
    SELECT RAISE(ABORT, 'versions only rise: required would fall')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.revision = (SELECT max(h.revision) FROM version_history AS h
                                WHERE h.app = NEW.app AND h.platform = NEW.platform)
            AND old.required IS NOT NULL AND (NEW.required IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(old.required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'versions only rise: latest would fall')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.revision = (SELECT max(h.revision) FROM version_history AS h
                                WHERE h.app = NEW.app AND h.platform = NEW.platform)
            AND old.latest IS NOT NULL AND (NEW.latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(old.latest, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    SELECT RAISE(ABORT, 'version codes only rise: a build would fall')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.revision = (SELECT max(h.revision) FROM version_history AS h
                                WHERE h.app = NEW.app AND h.platform = NEW.platform)
            AND (old.latest_build IS NOT NULL AND coalesce(NEW.latest_build < old.latest_build, 1)
                 OR old.required_build IS NOT NULL AND coalesce(NEW.required_build < old.required_build, 1));
    SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
        WHERE EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18)
            OR EXISTS (SELECT 1 FROM json_each('["' || replace(NEW.required, '.', '","') || '"]') AS n WHERE length(ltrim(n.value, '0')) > 18);
    SELECT RAISE(ABORT, 'revision counts up by one')
        FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
            AND old.revision >= NEW.revision;
    SELECT RAISE(ABORT, 'latest must not be older than required')
        WHERE NEW.required IS NOT NULL
            AND (NEW.latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(NEW.latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(NEW.required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0));
    INSERT INTO version_history (app, platform, revision, latest, required, download_url, message, telephones,
                                 changed_by, changed_from, updated_at, latest_build, required_build)
        VALUES (NEW.app, NEW.platform, NEW.revision, NEW.latest, NEW.required, NEW.download_url, NEW.message,
                NEW.telephones, NEW.changed_by, NEW.changed_from, NEW.updated_at, NEW.latest_build,
                NEW.required_build);
END;
CREATE TRIGGER campaign_event_canary AFTER INSERT ON campaign_event
    WHEN NEW.planned_at IS NULL AND NEW.finished_at IS NULL
BEGIN
    UPDATE campaign_event SET pending = pending - (SELECT iif(c.canary IS NULL, 0,
    (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
     WHERE r.campaign_id = c.id AND v.removed_at IS NULL)) FROM campaign AS c WHERE c.id = NEW.campaign_id)
    WHERE id = NEW.id;
END;
COMMIT;
PRAGMA user_version = 14;
PRAGMA application_id = 1433429874;
