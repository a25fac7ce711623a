-- step: dead tokens that a person accepted
-- in SQLite:
-- Until then it was found in the texts of the campaign's events.
-- 1 where a person resumed it after nearly all of its tokens were called dead: they are removed then.
ALTER TABLE campaign ADD COLUMN accepts_dead INTEGER NOT NULL DEFAULT 0 CHECK (accepts_dead IN (0, 1));
UPDATE campaign SET accepts_dead = 1 WHERE cause IS NOT 'deadTokens' AND id IN (
    SELECT campaign_id FROM campaign_event WHERE state = 'suspended' AND reason LIKE '%none was given up%');
DROP INDEX campaign_event_suspended;
