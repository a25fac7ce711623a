-- As SQLite's step of this number.
DROP TRIGGER noted ON campaign;
DROP FUNCTION campaign_noted();
-- An older release would write no event of a campaign's state.
UPDATE store_schema SET oldest = 34;
