// SPDX-License-Identifier: Apache-2.0

/// The table `version`: another program's door. It mirrors what is derived from `requirement`, and may be written to with plain SQL:
/// `UPDATE version SET required = '2.0.0' WHERE app = 'com.example.app' AND platform = 'ios'`.
///
/// A table and not a view: of an UPDATE of a view SQLite reports 0 rows, and it refuses ON CONFLICT. Whoever raises a version here has
/// asked for it; the relay takes it up. Whoever lets one fall, takes it back to NULL, deletes or renames the row is refused.
/// It makes no difference whether that connection has recursive triggers: each trigger changes nothing where the row says already
/// what is derived.
enum VersionDoor {
    /// Brings the row of an app to what is derived, by the trigger of a requirement (`NEW`).
    static let mirror: SQL = """
        INSERT INTO version (app, platform, required, latest, required_build, latest_build, download_url, message, changed_by,
                    changed_from, revision, updated_at)
                SELECT n.app, n.platform, n.required, n.latest, n.required_build, n.latest_build, n.download_url, n.message,
                    NEW.changed_by, NEW.changed_via, \(revision), NEW.changed_at
                FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
                    AND NOT EXISTS (SELECT 1 FROM version AS v WHERE v.app = NEW.app AND v.platform = NEW.platform);
            UPDATE version SET required = n.required, latest = n.latest, required_build = n.required_build,
                    latest_build = n.latest_build, download_url = n.download_url, message = n.message, telephones = NULL,
                    changed_by = NEW.changed_by, changed_from = NEW.changed_via,
                    revision = \(revision), updated_at = NEW.changed_at
                FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
                    AND version.app = NEW.app AND version.platform = NEW.platform;
        """

    /// The number of the app's last change.
    private static let revision: SQL = """
        coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                              WHERE r.app = NEW.app AND r.platform = NEW.platform), 0)
        """

    static let view: SQL = """
        -- What is derived of each app: the highest requirement, the newest version that users are, or are to be, told of, and the
        -- texts of whichever of the two was asked for last.
        CREATE VIEW version_now AS
            SELECT a.app, a.platform, q.id AS required_id, q.version AS required, q.version_key AS required_key,
                q.build AS required_build, l.id AS latest_id, l.version AS latest, l.version_key AS latest_key,
                l.build AS latest_build, t.download_url, t.message
            FROM (SELECT DISTINCT app, platform FROM requirement) AS a
            LEFT JOIN requirement AS q ON q.id = (
                SELECT r.id FROM requirement AS r WHERE r.app = a.app AND r.platform = a.platform AND r.kind = 'required'
                    AND r.state <> 'withdrawn' ORDER BY r.version_key DESC LIMIT 1)
            LEFT JOIN requirement AS l ON l.id = (
                SELECT r.id FROM requirement AS r WHERE r.app = a.app AND r.platform = a.platform AND r.kind <> 'blocked'
                    AND r.state <> 'withdrawn'
                ORDER BY r.version_key DESC, coalesce(r.build, 0) DESC, r.kind DESC LIMIT 1)
            LEFT JOIN requirement AS t ON t.id = max(coalesce(q.id, 0), coalesce(l.id, 0));
        """

    static let triggers: SQL = """
        CREATE TRIGGER version_is_not_deleted BEFORE DELETE ON version BEGIN
            SELECT RAISE(ABORT, 'versions only rise: a version row is never deleted');
        END;
        CREATE TRIGGER version_inserted AFTER INSERT ON version BEGIN
            \(refusals(old: nil))
            \(raised("required", asker: "NEW.changed_by", old: nil))
            \(named(old: nil))
            \(raised("latest", asker: "NEW.changed_by", old: nil))
            \(back)
        END;
        CREATE TRIGGER version_updated AFTER UPDATE ON version BEGIN
            SELECT RAISE(ABORT, 'a version row keeps its app and platform')
                WHERE NEW.app <> OLD.app OR NEW.platform <> OLD.platform;
            \(refusals(old: "OLD"))
            \(raised("required", asker: author, old: "OLD"))
            \(named(old: "OLD"))
            \(raised("latest", asker: author, old: "OLD"))
            -- Texts and codes alone are those of what is asked for.
            UPDATE requirement SET
                    download_url = iif(NEW.download_url IS NOT OLD.download_url, NEW.download_url,
                        requirement.download_url),
                    message = iif(NEW.message IS NOT OLD.message, NEW.message, requirement.message),
                    build = CASE WHEN requirement.id = n.required_id AND NEW.required_build IS NOT OLD.required_build THEN NEW.required_build
                                 WHEN requirement.id = n.latest_id AND NEW.latest_build IS NOT OLD.latest_build THEN NEW.latest_build
                                 ELSE requirement.build END,
                    changed_by = \(author), changed_via = 'database', changed_at = \(now)
                FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
                    AND requirement.id IN (n.required_id, n.latest_id)
                    AND NEW.required IS OLD.required AND NEW.latest IS OLD.latest
                    AND (NEW.download_url IS NOT OLD.download_url AND NEW.download_url IS NOT n.download_url
                         OR NEW.message IS NOT OLD.message AND NEW.message IS NOT n.message
                         OR NEW.required_build IS NOT OLD.required_build AND NEW.required_build IS NOT n.required_build
                         OR NEW.latest_build IS NOT OLD.latest_build AND NEW.latest_build IS NOT n.latest_build);
            \(back)
        END;
        """

    /// Who made an update: somebody else than the last one, or nobody says.
    private static let author: SQL = "iif(NEW.changed_by <> OLD.changed_by, NEW.changed_by, 'unknown')"
    /// The moment of the statement, in milliseconds since 1970.
    static let now: SQL = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
    private static let isHere: SQL = "n.app = NEW.app AND n.platform = NEW.platform"

    private static func refusals(old: SQL?) -> SQL {
        // INSERT OR REPLACE takes the old row away without a word; the requirements still know it.
        func changed(_ column: SQL) -> SQL { old.map { "NEW.\(column) IS NOT \($0).\(column) AND " } ?? "" }
        let latestIsGiven: SQL = old == nil ? "NEW.latest IS NOT NULL AND " : changed("latest")
        let buildIsGiven: SQL = old == nil ? "NEW.required_build IS NOT NULL AND " : changed("required_build")
        let latestBuildIsGiven: SQL = old == nil ? "NEW.latest_build IS NOT NULL AND " : changed("latest_build")
        return """
            SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
                    WHERE \(VersionKey.hasLongNumber("NEW.latest"))
                        OR \(VersionKey.hasLongNumber("NEW.required"));
                SELECT RAISE(ABORT, 'versions only rise: required would fall') FROM version_now AS n
                    WHERE \(isHere) AND \(changed("required"))n.required_key IS NOT NULL
                        AND coalesce(\(VersionKey.of("NEW.required")) < n.required_key, 1);
                SELECT RAISE(ABORT, 'versions only rise: latest would fall') FROM version_now AS n
                    WHERE \(isHere) AND \(latestIsGiven)n.latest_key IS NOT NULL
                        AND coalesce(\(VersionKey.of("NEW.latest")) < n.latest_key, 1);
                SELECT RAISE(ABORT, 'version codes only rise: required_build would fall') FROM version_now AS n
                    WHERE \(isHere) AND \(buildIsGiven)n.required_build IS NOT NULL
                        AND coalesce(NEW.required_build < n.required_build, 1);
                SELECT RAISE(ABORT, 'version codes only rise: latest_build would fall') FROM version_now AS n
                    WHERE \(isHere) AND \(latestBuildIsGiven)n.latest_build IS NOT NULL
                        AND coalesce(NEW.latest_build < n.latest_build, 1);
            """
    }

    /// A version above what is derived is asked for. What the statement did not change is not this version's.
    private static func raised(_ kind: SQL, asker: SQL, old: SQL?) -> SQL {
        func given(_ column: SQL) -> SQL {
            old.map { "iif(NEW.\(column) IS NOT \($0).\(column), NEW.\(column), NULL)" } ?? "NEW.\(column)"
        }
        let names: SQL =
            "iif(json_type(\(given("telephones"))) = 'array', json_array_length(\(given("telephones"))), NULL)"
        let isRequired = kind == "required"
        return """
            INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released,
                        download_url, message, canary, asked_at, changed_by, changed_via, changed_at)
                    SELECT NEW.app, NEW.platform, '\(kind)', NEW.\(kind), \(VersionKey.of("NEW.\(kind)")),
                        \(given("\(kind)_build")), 'asked', \(isRequired ? "iif(\(names) IS NULL, 10000, 0)" : "10000"), 1, 0,
                        \(given("download_url")), \(given("message")), \(isRequired ? names : "NULL"), \(now), \(asker),
                        'database', \(now)
                    WHERE NEW.\(kind) IS NOT NULL AND NOT EXISTS (
                        SELECT 1 FROM version_now AS n WHERE \(isHere) AND n.\(kind)_key >= \(VersionKey.of("NEW.\(kind)")));
            """
    }

    /// The users whom the requirement names that was just asked for.
    private static func named(old: SQL?) -> SQL {
        let telephones: SQL =
            old.map { "iif(NEW.telephones IS NOT \($0).telephones, NEW.telephones, NULL)" } ?? "NEW.telephones"
        return """
            INSERT INTO requirement_canary (requirement_id, number, telephone)
                    SELECT n.required_id, t.key, t.value FROM version_now AS n
                        JOIN requirement AS r ON r.id = n.required_id AND r.state = 'asked' AND r.canary IS NOT NULL
                        JOIN json_each(\(telephones)) AS t
                    WHERE \(isHere) AND NOT EXISTS (SELECT 1 FROM requirement_canary AS c WHERE c.requirement_id = n.required_id);
            """
    }

    /// The row says what is derived, whatever the statement wrote: another spelling, telephones, a number of its own.
    private static let back: SQL = """
        UPDATE version SET required = n.required, latest = n.latest, required_build = n.required_build,
                    latest_build = n.latest_build, download_url = n.download_url, message = n.message, telephones = NULL,
                    revision = \(revision)
                FROM version_now AS n WHERE \(isHere) AND version.app = NEW.app AND version.platform = NEW.platform
                    AND (version.required IS NOT n.required OR version.latest IS NOT n.latest
                         OR version.required_build IS NOT n.required_build OR version.latest_build IS NOT n.latest_build
                         OR version.download_url IS NOT n.download_url OR version.message IS NOT n.message
                         OR version.telephones IS NOT NULL OR version.revision <> \(revision));
        """
}
