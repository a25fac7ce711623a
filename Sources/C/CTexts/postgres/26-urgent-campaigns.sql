-- Since when a campaign is sent whatever the hour (pace.hours), and who wants that; NULL: within the hours.
ALTER TABLE campaign ADD COLUMN urgent_at bigint;
ALTER TABLE campaign ADD COLUMN urgent_by text;
