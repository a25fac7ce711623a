-- step: events of campaigns, by the relay
-- in SQLite:
-- The relay writes a campaign's run with the campaign, and an event with each of its states: in the transaction that makes the change, as
-- it writes all other events.
DROP TRIGGER campaign_began;
DROP TRIGGER campaign_moved;
-- in PostgreSQL:
-- As SQLite's step of this number.
DROP TRIGGER noted ON campaign;
DROP FUNCTION campaign_noted();
-- An older release would write no event of a campaign's state.
UPDATE store_schema SET oldest = 34;
