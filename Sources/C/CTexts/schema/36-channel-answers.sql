-- step: answers by channel
-- in SQLite:
-- What each channel's push service has answered is counted beside the reasons: kind 'channel', reason such as '2 accepted'. No row has to be
-- written for a CHECK that allows more (step 35). A trigger that is made and dropped changes the schema's number, by which other
-- connections see that they must read it again.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(kind IN (''filtered'', ''rejected''))', '(kind IN (''filtered'', ''rejected'', ''channel''))')
    WHERE type = 'table' AND name = 'campaign_reason';
PRAGMA writable_schema = RESET;
CREATE TRIGGER campaign_reason_changed AFTER DELETE ON campaign_reason BEGIN SELECT 1; END;
DROP TRIGGER campaign_reason_changed;
-- in PostgreSQL:
-- What each channel's push service has answered is counted beside the reasons: kind 'channel', reason such as '2 accepted'.
ALTER TABLE campaign_reason DROP CONSTRAINT campaign_reason_kind_check,
    ADD CONSTRAINT campaign_reason_kind_check CHECK (kind IN ('filtered', 'rejected', 'channel')) NOT VALID;
