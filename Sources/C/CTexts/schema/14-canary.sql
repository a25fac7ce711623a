-- step: campaigns that begin with a canary
-- in SQLite:
-- A campaign whose bump names telephones goes to them 'alone' first; 'released': to everybody else, too. NULL: it names
-- nobody, or was begun by an older release, and its telephones are its whole audience.
ALTER TABLE campaign ADD COLUMN canary TEXT CHECK (canary IN ('alone', 'released'));
ALTER TABLE campaign ADD COLUMN canary_ended_at INTEGER;  -- when the last of its devices had its outcome
CREATE TRIGGER campaign_event_canary AFTER INSERT ON campaign_event
    WHEN NEW.planned_at IS NULL AND NEW.finished_at IS NULL
BEGIN
    UPDATE campaign_event SET pending = pending - (SELECT iif(c.canary IS NULL, 0,
            (SELECT count(*) FROM delivery AS r CROSS JOIN device AS v ON v.id = r.device_id
             WHERE r.campaign_id = c.id AND v.removed_at IS NULL)) FROM campaign AS c WHERE c.id = NEW.campaign_id)
    WHERE id = NEW.id;
END;
