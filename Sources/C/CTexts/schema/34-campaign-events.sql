-- The relay writes a campaign's run with the campaign, and an event with each of its states: in the transaction that makes the change, as
-- it writes all other events.
DROP TRIGGER campaign_began;
DROP TRIGGER campaign_moved;
