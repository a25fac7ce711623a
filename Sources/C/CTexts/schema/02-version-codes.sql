-- step: version codes, alerts, versions seen
-- in SQLite:
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
    UPDATE version SET revision = revision + 1, changed_by = 'unknown', changed_from = 'database', updated_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
        latest = CASE WHEN required IS NOT NULL AND (latest IS NULL OR coalesce((SELECT coalesce(CAST(l.value AS INTEGER), 0) < coalesce(CAST(r.value AS INTEGER), 0) FROM json_each('["' || replace(latest, '.', '","') || '"]') AS l FULL JOIN json_each('["' || replace(required, '.', '","') || '"]') AS r ON l.key = r.key WHERE coalesce(CAST(l.value AS INTEGER), 0) <> coalesce(CAST(r.value AS INTEGER), 0) ORDER BY coalesce(l.key, r.key) LIMIT 1), 0))
                      THEN required ELSE latest END
        WHERE app = NEW.app AND platform = NEW.platform;
END;

DROP TRIGGER version_updated_signed;
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

DROP TRIGGER version_inserted_signed;
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
                                 changed_by, changed_from, updated_at, latest_build, required_build)
        VALUES (NEW.app, NEW.platform, NEW.revision, NEW.latest, NEW.required, NEW.download_url, NEW.message,
                NEW.telephones, NEW.changed_by, NEW.changed_from, NEW.updated_at, NEW.latest_build,
                NEW.required_build);
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
