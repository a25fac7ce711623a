-- Which relays work on the store, and what each of them has. One that is alone with its file has no row.
CREATE TABLE node (
    id            INTEGER PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,
    incarnation   INTEGER NOT NULL,   -- one more with each time that it took its place
    release       TEXT NOT NULL,
    address       TEXT NOT NULL,
    configuration TEXT NOT NULL,      -- a digest of what it says to apps
    joined_at     INTEGER NOT NULL,
    alive_until   INTEGER NOT NULL,   -- by the store's clock
    gone_at       INTEGER,            -- since when others may have what it had; NULL: it has its place
    gone          TEXT CHECK (gone IN ('fenced', 'stopped')),
    ahead         INTEGER NOT NULL DEFAULT 0,  -- milliseconds that the store's clock is ahead of its own
    figures       TEXT NOT NULL DEFAULT '',  -- JSON: how far the campaigns are that it sends
    CHECK ((gone_at IS NULL) = (gone IS NULL))
) STRICT;
-- Who has the duties that one relay does for all: one row, or none.
CREATE TABLE leader (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    node INTEGER NOT NULL
) STRICT;
-- Which relay sends for a project whose quota all of its apps share.
CREATE TABLE project (
    name   TEXT PRIMARY KEY,
    owner  INTEGER,
    pauses TEXT  -- JSON: which services send nothing on the quota for now, and until when
) STRICT, WITHOUT ROWID;
ALTER TABLE campaign_run ADD COLUMN project TEXT;
CREATE INDEX campaign_run_owner ON campaign_run (owner) WHERE owner IS NOT NULL;
-- It was 1; of a relay that is alone it is 0.
UPDATE campaign_run SET owner = NULL, epoch = epoch + 1 WHERE owner IS NOT NULL;
