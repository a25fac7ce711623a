// SPDX-License-Identifier: Apache-2.0

/// One record of what is required: the step to schema version 16.
enum RequirementSchema {
    static let sql: SQL = "\(tables)\n\(RequirementMigration.sql)\n\(rules)\n\(VersionDoor.triggers)"

    private static let tables: SQL = """
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
        """

    private static let note: SQL = """
        INSERT INTO requirement_event (requirement_id, at, state, reach, build, download_url, message, in_force_at, in_force_by,
                reason, by, via)
            VALUES (NEW.id, NEW.changed_at, NEW.state, NEW.reach, NEW.build, NEW.download_url, NEW.message, NEW.in_force_at,
                NEW.in_force_by, NEW.reason, NEW.changed_by, NEW.changed_via);
        """

    private static let rules: SQL = """
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
            \(note)
            \(VersionDoor.mirror)
        END;
        CREATE TRIGGER requirement_updated AFTER UPDATE ON requirement BEGIN
            \(note)
            \(VersionDoor.mirror)
        END;
        """
}
