-- step: why campaigns stood still
-- in SQLite:
CREATE INDEX IF NOT EXISTS campaign_event_suspended ON campaign_event (campaign_id) WHERE state = 'suspended';
