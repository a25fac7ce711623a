-- step: moments and systems in the history
-- in SQLite:
-- The version of the phone's system, on Android its API level; NULL: not known. The index tells which systems there are.
ALTER TABLE device ADD COLUMN os_version TEXT;
CREATE INDEX device_system ON device (app_id, os_version) WHERE os_version IS NOT NULL AND removed_at IS NULL;
-- The history says of which moment and for which systems a requirement was.
ALTER TABLE requirement_event ADD COLUMN required_from INTEGER;
ALTER TABLE requirement_event ADD COLUMN minimum_os TEXT;
DROP TRIGGER requirement_inserted;
DROP TRIGGER requirement_updated;
CREATE TRIGGER requirement_inserted AFTER INSERT ON requirement BEGIN
    INSERT INTO requirement_event (requirement_id, at, state, reach, build, download_url, message, in_force_at, in_force_by,
        reason, by, via, required_from, minimum_os)
    VALUES (NEW.id, NEW.changed_at, NEW.state, NEW.reach, NEW.build, NEW.download_url, NEW.message, NEW.in_force_at,
        NEW.in_force_by, NEW.reason, NEW.changed_by, NEW.changed_via, NEW.required_from, NEW.minimum_os);
    INSERT INTO version (app, platform, required, latest, required_build, latest_build, download_url, message, changed_by,
            changed_from, revision, updated_at)
        SELECT n.app, n.platform, n.required, n.latest, n.required_build, n.latest_build, n.download_url, n.message,
            NEW.changed_by, NEW.changed_via, coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0), NEW.changed_at
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
            AND NOT EXISTS (SELECT 1 FROM version AS v WHERE v.app = NEW.app AND v.platform = NEW.platform);
    UPDATE version SET required = n.required, latest = n.latest, required_build = n.required_build,
            latest_build = n.latest_build, download_url = n.download_url, message = n.message, telephones = NULL,
            changed_by = NEW.changed_by, changed_from = NEW.changed_via,
            revision = coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0), updated_at = NEW.changed_at
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
            AND version.app = NEW.app AND version.platform = NEW.platform;
END;
CREATE TRIGGER requirement_updated AFTER UPDATE ON requirement BEGIN
    INSERT INTO requirement_event (requirement_id, at, state, reach, build, download_url, message, in_force_at, in_force_by,
        reason, by, via, required_from, minimum_os)
    VALUES (NEW.id, NEW.changed_at, NEW.state, NEW.reach, NEW.build, NEW.download_url, NEW.message, NEW.in_force_at,
        NEW.in_force_by, NEW.reason, NEW.changed_by, NEW.changed_via, NEW.required_from, NEW.minimum_os);
    INSERT INTO version (app, platform, required, latest, required_build, latest_build, download_url, message, changed_by,
            changed_from, revision, updated_at)
        SELECT n.app, n.platform, n.required, n.latest, n.required_build, n.latest_build, n.download_url, n.message,
            NEW.changed_by, NEW.changed_via, coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0), NEW.changed_at
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
            AND NOT EXISTS (SELECT 1 FROM version AS v WHERE v.app = NEW.app AND v.platform = NEW.platform);
    UPDATE version SET required = n.required, latest = n.latest, required_build = n.required_build,
            latest_build = n.latest_build, download_url = n.download_url, message = n.message, telephones = NULL,
            changed_by = NEW.changed_by, changed_from = NEW.changed_via,
            revision = coalesce((SELECT max(e.id) FROM requirement_event AS e JOIN requirement AS r ON r.id = e.requirement_id
                      WHERE r.app = NEW.app AND r.platform = NEW.platform), 0), updated_at = NEW.changed_at
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
            AND version.app = NEW.app AND version.platform = NEW.platform;
END;
-- in PostgreSQL:
-- The version of the phone's system, on Android its API level; NULL: not known. The index tells which systems there are.
ALTER TABLE device ADD COLUMN os_version text COLLATE "C";
CREATE INDEX device_system ON device (app_id, os_version) WHERE os_version IS NOT NULL AND removed_at IS NULL;
-- The history says of which moment and for which systems a requirement was.
ALTER TABLE requirement_event ADD COLUMN required_from bigint;
ALTER TABLE requirement_event ADD COLUMN minimum_os text;
CREATE OR REPLACE FUNCTION requirement_noted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN
    INSERT INTO requirement_event (requirement_id, at, state, reach, build, download_url, message, in_force_at, in_force_by,
            reason, by, via, required_from, minimum_os)
        VALUES (NEW.id, NEW.changed_at, NEW.state, NEW.reach, NEW.build, NEW.download_url, NEW.message, NEW.in_force_at,
            NEW.in_force_by, NEW.reason, NEW.changed_by, NEW.changed_via, NEW.required_from, NEW.minimum_os);
    INSERT INTO version AS v (app, platform, required, latest, required_build, latest_build, download_url, message,
            changed_by, changed_from, revision, updated_at)
        SELECT n.app, n.platform, n.required, n.latest, n.required_build, n.latest_build, n.download_url, n.message,
            NEW.changed_by, NEW.changed_via, n.revision, NEW.changed_at
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
        ON CONFLICT (app, platform) DO UPDATE SET required = excluded.required, latest = excluded.latest,
            required_build = excluded.required_build, latest_build = excluded.latest_build,
            download_url = excluded.download_url, message = excluded.message, telephones = NULL,
            changed_by = excluded.changed_by, changed_from = excluded.changed_from, revision = excluded.revision,
            updated_at = excluded.updated_at;
    RETURN NULL;
END $$;
