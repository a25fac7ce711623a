-- step: versions that were withdrawn
-- in SQLite:
DROP TRIGGER version_rises;
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

DROP TRIGGER version_builds_rise;
CREATE TRIGGER version_builds_rise AFTER UPDATE ON version WHEN NOT (NEW.changed_from = 'withdraw' AND NEW.revision = OLD.revision + 1) BEGIN
    SELECT RAISE(ABORT, 'version codes only rise: latest_build would fall')
        WHERE OLD.latest_build IS NOT NULL AND coalesce(NEW.latest_build < OLD.latest_build, 1);
    SELECT RAISE(ABORT, 'version codes only rise: required_build would fall')
        WHERE OLD.required_build IS NOT NULL AND coalesce(NEW.required_build < OLD.required_build, 1);
END;

-- In what order triggers run is SQLite's own affair, so one checks all before the same one writes the history.
DROP TRIGGER IF EXISTS version_builds_rise_from_history;
DROP TRIGGER version_inserted_unsigned;
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
DROP TRIGGER version_inserted_signed;
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
