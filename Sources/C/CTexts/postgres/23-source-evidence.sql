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
