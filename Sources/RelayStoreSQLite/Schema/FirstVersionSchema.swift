// SPDX-License-Identifier: Apache-2.0

/// The version store of schema version 1, made to be written by other programs too: whoever writes, versions only rise.
///
/// Plain SQL throughout, for another program's connection has no functions of ours. There are three kinds of writer:
/// - *unsigned*: `UPDATE version SET required = '2.0.0' WHERE app = 'com.example.app' AND platform = 'ios'`. The triggers
///   lift `latest` to `required`, count the revision up and note the change as "unknown" from "database".
/// - *signed*: also sets `revision = revision + 1`, `changed_by`, `changed_from` and `updated_at`. The relay does.
/// - anyone who lets a version fall, takes it back to NULL, deletes or renames the row: refused.
enum FirstVersionSchema {
    static let sql: SQL = """
        CREATE TABLE version (
            app          TEXT NOT NULL CHECK (app <> ''),
            platform     TEXT NOT NULL CHECK (platform IN ('ios', 'android')),
            latest       TEXT CONSTRAINT "latest is a version such as 2.1.0" CHECK (\(isVersion("latest"))),
            required     TEXT CONSTRAINT "required is a version such as 2.1.0" CHECK (\(isVersion("required"))),
            download_url TEXT CHECK (download_url <> ''),  -- NULL: the one of the configuration
            message      TEXT,
            -- A JSON array of the only telephones that a rise of required is announced to; NULL: everyone. It is taken as
            -- it stands when required rises: set it together with required.
            telephones   TEXT CHECK (json_type(telephones) = 'array'),
            changed_by   TEXT NOT NULL DEFAULT 'unknown',
            changed_from TEXT NOT NULL DEFAULT 'database',
            revision     INTEGER NOT NULL DEFAULT 0,       -- leave it alone, or count it up by one to sign the change
            updated_at   INTEGER NOT NULL DEFAULT (\(now)),
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
                WHERE \(falls("required", from: "OLD.required"));
            SELECT RAISE(ABORT, 'versions only rise: latest would fall')
                WHERE \(falls("latest", from: "OLD.latest"));
            SELECT RAISE(ABORT, 'a version row keeps its app and platform')
                WHERE NEW.app <> OLD.app OR NEW.platform <> OLD.platform;
            SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
                WHERE \(hasLongNumber("NEW.latest")) OR \(hasLongNumber("NEW.required"));
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
            UPDATE version SET revision = revision + 1, \(sign)
                WHERE app = NEW.app AND platform = NEW.platform;
        END;

        CREATE TRIGGER version_inserted_unsigned AFTER INSERT ON version WHEN NEW.revision = 0 BEGIN
            \(riseFromHistory)
            UPDATE version SET \(sign),
                revision = 1 + (SELECT coalesce(max(h.revision), 0) FROM version_history AS h
                                WHERE h.app = NEW.app AND h.platform = NEW.platform)
                WHERE app = NEW.app AND platform = NEW.platform;
        END;

        CREATE TRIGGER version_updated_signed AFTER UPDATE ON version WHEN NEW.revision <> OLD.revision BEGIN
            SELECT RAISE(ABORT, 'revision counts up by one')
                WHERE NEW.revision <> OLD.revision + 1 AND OLD.revision <> 0;
            \(latestIsNotOlder)
            \(record)
        END;

        CREATE TRIGGER version_inserted_signed AFTER INSERT ON version WHEN NEW.revision <> 0 BEGIN
            \(riseFromHistory)
            SELECT RAISE(ABORT, 'revision counts up by one')
                FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
                    AND old.revision >= NEW.revision;
            \(latestIsNotOlder)
            \(record)
        END;

        CREATE TRIGGER version_history_is_not_edited BEFORE UPDATE ON version_history BEGIN
            SELECT RAISE(ABORT, 'the history of versions is not edited');
        END;
        CREATE TRIGGER version_history_is_not_deleted BEFORE DELETE ON version_history BEGIN
            SELECT RAISE(ABORT, 'the history of versions is not deleted');
        END;
        """

    /// The moment of the statement, in milliseconds since 1970.
    static let now: SQL = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

    static let sign: SQL = """
        changed_by = 'unknown', changed_from = 'database', updated_at = \(now),
                latest = CASE WHEN required IS NOT NULL AND (latest IS NULL OR \(isOlder("latest", than: "required")))
                              THEN required ELSE latest END
        """

    /// INSERT OR REPLACE takes the old row away without a word; the history still knows it.
    static let riseFromHistory: SQL = """
        SELECT RAISE(ABORT, 'versions only rise: required would fall')
                FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
                    AND \(falls("required", from: "old.required"));
            SELECT RAISE(ABORT, 'versions only rise: latest would fall')
                FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
                    AND \(falls("latest", from: "old.latest"));
            SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
                WHERE \(hasLongNumber("NEW.latest")) OR \(hasLongNumber("NEW.required"));
        """

    static let latestIsNotOlder: SQL = """
        SELECT RAISE(ABORT, 'latest must not be older than required')
                WHERE NEW.required IS NOT NULL
                    AND (NEW.latest IS NULL OR \(isOlder("NEW.latest", than: "NEW.required")));
        """

    private static let record: SQL = """
        INSERT INTO version_history (app, platform, revision, latest, required, download_url, message, telephones,
                                         changed_by, changed_from, updated_at)
                VALUES (NEW.app, NEW.platform, NEW.revision, NEW.latest, NEW.required, NEW.download_url, NEW.message,
                        NEW.telephones, NEW.changed_by, NEW.changed_from, NEW.updated_at);
        """

    /// What `Version.init` accepts, but for the 18 digits, which a CHECK cannot count. True for NULL, as a CHECK wants it.
    /// The two lengths differ where a NUL byte hides the rest of the text from GLOB.
    static func isVersion(_ text: SQL) -> SQL {
        "\(text) GLOB '[0-9]*' AND \(text) GLOB '*[0-9]' AND \(text) NOT GLOB '*[^0-9.]*' AND \(text) NOT GLOB '*..*' "
            + "AND length(\(text)) <= 64 AND length(CAST(\(text) AS BLOB)) = length(\(text))"
    }

    /// The numbers of a version as rows of (key, value).
    static func numbers(_ text: SQL) -> SQL {
        "json_each('[\"' || replace(\(text), '.', '\",\"') || '\"]')"
    }

    /// Whether one version is older, number by number, missing ones being 0: the first pair that differs decides.
    static func isOlder(_ left: SQL, than right: SQL) -> SQL {
        let (l, r): (SQL, SQL) = ("coalesce(CAST(l.value AS INTEGER), 0)", "coalesce(CAST(r.value AS INTEGER), 0)")
        return "coalesce((SELECT \(l) < \(r) FROM \(numbers(left)) AS l FULL JOIN \(numbers(right)) AS r "
            + "ON l.key = r.key WHERE \(l) <> \(r) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0)"
    }

    static func falls(_ column: SQL, from old: SQL) -> SQL {
        "\(old) IS NOT NULL AND (NEW.\(column) IS NULL OR \(isOlder("NEW.\(column)", than: old)))"
    }

    static func hasLongNumber(_ text: SQL) -> SQL {
        "EXISTS (SELECT 1 FROM \(numbers(text)) AS n WHERE length(ltrim(n.value, '0')) > 18)"
    }
}
