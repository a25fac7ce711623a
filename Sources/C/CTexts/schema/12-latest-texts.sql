-- step: texts of the latest version
-- in SQLite:
ALTER TABLE in_force ADD COLUMN latest_url TEXT;
ALTER TABLE in_force ADD COLUMN latest_message TEXT;
ALTER TABLE in_force_history ADD COLUMN latest_url TEXT;
ALTER TABLE in_force_history ADD COLUMN latest_message TEXT;
DROP TRIGGER in_force_inserted;
DROP TRIGGER in_force_updated;
-- Until now both versions had the texts of the last bump.
UPDATE in_force SET latest_url = download_url, latest_message = message WHERE canary = 0;
CREATE TRIGGER in_force_inserted AFTER INSERT ON in_force BEGIN
    INSERT INTO in_force_history (app, platform, canary, required, required_build, latest, latest_build, download_url,
            message, telephones, since, opened_by, reason, changed_at, changed_by, changed_from, latest_url,
            latest_message)
        VALUES (NEW.app, NEW.platform, NEW.canary, NEW.required, NEW.required_build, NEW.latest, NEW.latest_build,
            NEW.download_url, NEW.message, NEW.telephones, NEW.since, NEW.opened_by, NEW.reason, NEW.changed_at,
            NEW.changed_by, NEW.changed_from, NEW.latest_url, NEW.latest_message);
END;
CREATE TRIGGER in_force_updated AFTER UPDATE ON in_force BEGIN
    INSERT INTO in_force_history (app, platform, canary, required, required_build, latest, latest_build, download_url,
            message, telephones, since, opened_by, reason, changed_at, changed_by, changed_from, latest_url,
            latest_message)
        VALUES (NEW.app, NEW.platform, NEW.canary, NEW.required, NEW.required_build, NEW.latest, NEW.latest_build,
            NEW.download_url, NEW.message, NEW.telephones, NEW.since, NEW.opened_by, NEW.reason, NEW.changed_at,
            NEW.changed_by, NEW.changed_from, NEW.latest_url, NEW.latest_message);
END;
