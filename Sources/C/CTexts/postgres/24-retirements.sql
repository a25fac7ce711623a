-- Where a dead token stands among those of its app, in the order in which the relay learnt of them: a thousand times the time in
-- milliseconds, and always more than the last one, whatever the clock does. NULL: it is alive, or removed.
-- Given under the lock of the app's row, as the last thing of a transaction: who reads one sees all before it.
ALTER TABLE device ADD COLUMN retired_order bigint;
ALTER TABLE app ADD COLUMN retired_last bigint NOT NULL DEFAULT 0;  -- the last one that was given
ALTER TABLE app ADD COLUMN retired_told bigint NOT NULL DEFAULT 0;  -- up to which there are events
UPDATE device AS d SET retired_order = o.place FROM (
    SELECT id, greatest(retired_at, 0) * 1000 + row_number() OVER (PARTITION BY app_id ORDER BY retired_at, id) AS place
    FROM device WHERE retired_at IS NOT NULL AND removed_at IS NULL) AS o
    WHERE o.id = d.id;
UPDATE app AS a SET retired_last = coalesce((SELECT max(d.retired_order) FROM device AS d WHERE d.app_id = a.id), 0);
UPDATE app SET retired_told = retired_last;
CREATE INDEX device_retired ON device (app_id, retired_order) WHERE retired_order IS NOT NULL;
-- An event may be of an app, and of no campaign.
ALTER TABLE campaign_event ALTER campaign_id DROP NOT NULL;
ALTER TABLE campaign_event ADD COLUMN app_id bigint REFERENCES app;
ALTER TABLE campaign_event ADD COLUMN subject text;  -- JSON: what it is about
ALTER TABLE campaign_event ADD CHECK ((campaign_id IS NULL) = (app_id IS NOT NULL)), ADD CHECK ((app_id IS NULL) = (subject IS NULL));
