-- step: what the app stores said
-- in SQLite:
-- What each store was last seen to offer of an app, and what it was asked: a wait that began when it first showed a version goes on after a
-- restart.
CREATE TABLE source_evidence (
    app      TEXT NOT NULL CHECK (app <> ''),
    platform TEXT NOT NULL CHECK (platform IN ('ios', 'android')),
    kind     TEXT NOT NULL CHECK (kind IN ('appStore', 'appStoreConnect', 'googlePlay')),
    query    TEXT NOT NULL CHECK (query <> ''),  -- an answer to another one says nothing of this app
    asked_at INTEGER NOT NULL,                   -- when it last said so, to the hour
    said     TEXT NOT NULL CHECK (said <> ''),   -- JSON
    PRIMARY KEY (app, platform, kind)
) STRICT;
-- in PostgreSQL:
-- As SQLite's step of this number.
CREATE TABLE source_evidence (
    app      text COLLATE "C" NOT NULL CHECK (app <> ''),
    platform text COLLATE "C" NOT NULL CHECK (platform IN ('ios', 'android')),
    kind     text COLLATE "C" NOT NULL CHECK (kind IN ('appStore', 'appStoreConnect', 'googlePlay')),
    query    text COLLATE "C" NOT NULL CHECK (query <> ''),  -- an answer to another one says nothing of this app
    asked_at bigint NOT NULL,                                -- when it last said so, to the hour
    said     text NOT NULL CHECK (said <> ''),               -- JSON
    PRIMARY KEY (app, platform, kind)
);
