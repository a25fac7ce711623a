-- What each channel's push service has answered is counted beside the reasons: kind 'channel', reason such as '2 accepted'.
ALTER TABLE campaign_reason DROP CONSTRAINT campaign_reason_kind_check,
    ADD CONSTRAINT campaign_reason_kind_check CHECK (kind IN ('filtered', 'rejected', 'channel')) NOT VALID;
