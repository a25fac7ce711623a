-- step: what devices say at login
-- in SQLite:
-- When the device told its version at login; NULL: not since this column came, or as it was registered.
ALTER TABLE device ADD COLUMN seen_at INTEGER;
-- Devices that were told at login and had come up to the requirement before the campaign came to them: how many, and
-- which they are.
ALTER TABLE campaign ADD COLUMN upgraded_early INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_early >= 0);
ALTER TABLE campaign_told ADD COLUMN upgraded INTEGER NOT NULL DEFAULT 0 CHECK (upgraded IN (0, 1));
-- Its texts were those of the newest version.
DROP VIEW version_now;
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
