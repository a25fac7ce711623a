-- Who did what: what people, webhooks, sources and other programs have changed, and what the relay itself made of campaigns. Written with
-- the change itself, in one transaction. Telephones and tokens are masked.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice, for it is a cursor
    at         INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    actor_kind TEXT NOT NULL,  -- token, operator, session, webhook, source, database, relay
    via        TEXT NOT NULL,  -- by which way, as histories name it
    address    TEXT,           -- where it came from; NULL: from within the relay
    action     TEXT NOT NULL,
    app        TEXT,           -- NULL: about no app, or about all
    platform   TEXT CHECK (platform IN ('ios', 'android')),
    campaign   TEXT,           -- its public id
    object     TEXT,           -- what was changed, where app and campaign do not say it
    before     TEXT,           -- JSON: what is another after the change, as it was
    after      TEXT,           -- and as it is
    CHECK ((app IS NULL) = (platform IS NULL))
) STRICT;
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_app ON audit (app) WHERE app IS NOT NULL;
CREATE INDEX audit_campaign ON audit (campaign) WHERE campaign IS NOT NULL;

-- Rows from before this moment may go: pruning says so first. In one row, or none.
CREATE TABLE audit_horizon (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL
) STRICT;
CREATE TRIGGER audit_not_changed BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit trail is only added to');
END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit
WHEN OLD.at >= coalesce((SELECT at FROM audit_horizon), OLD.at) BEGIN
    SELECT RAISE(ABORT, 'the audit trail is only added to');
END;

-- Browsers that are signed in.
CREATE TABLE session (
    hash       BLOB PRIMARY KEY CHECK (length(hash) = 32),  -- SHA-256 of the secret
    token      BLOB,           -- access_token.hash of the API token that it was signed in with; NULL: with none
    actor      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_expires ON session (expires_at);

-- When an API token was used last, to the minute.
ALTER TABLE access_token ADD COLUMN used_at INTEGER;
