CREATE INDEX IF NOT EXISTS campaign_event_suspended ON campaign_event (campaign_id) WHERE state = 'suspended';
