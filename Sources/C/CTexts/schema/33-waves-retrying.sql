-- step: which of a wave's pushes are tried again
-- in SQLite:
-- Pushes of a wave that the service did not take so far. Until this step they counted as failed; those of a campaign were of the wave
-- that had begun last, but for a few.
ALTER TABLE campaign_wave ADD COLUMN retrying INTEGER NOT NULL DEFAULT 0;
UPDATE campaign_wave SET retrying = coalesce((SELECT n.retrying FROM campaign_run AS n WHERE n.campaign_id = campaign_wave.campaign_id), 0)
    WHERE number = (SELECT max(w.number) FROM campaign_wave AS w
                    WHERE w.campaign_id = campaign_wave.campaign_id AND w.begun_at IS NOT NULL);
UPDATE campaign_wave SET retrying = CASE WHEN retrying < failed THEN retrying ELSE failed END,
    failed = failed - CASE WHEN retrying < failed THEN retrying ELSE failed END
    WHERE retrying > 0;
-- in PostgreSQL:
-- Pushes of a wave that the service did not take so far. Until this step they counted as failed; those of a campaign were of the wave
-- that had begun last, but for a few.
ALTER TABLE campaign_wave ADD COLUMN retrying bigint NOT NULL DEFAULT 0;
UPDATE campaign_wave SET retrying = coalesce((SELECT n.retrying FROM campaign_run AS n WHERE n.campaign_id = campaign_wave.campaign_id), 0)
    WHERE number = (SELECT max(w.number) FROM campaign_wave AS w
                    WHERE w.campaign_id = campaign_wave.campaign_id AND w.begun_at IS NOT NULL);
UPDATE campaign_wave SET retrying = CASE WHEN retrying < failed THEN retrying ELSE failed END,
    failed = failed - CASE WHEN retrying < failed THEN retrying ELSE failed END
    WHERE retrying > 0;
