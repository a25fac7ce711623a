-- step: sessions of people whom a proxy signs in
-- in SQLite:
-- The rights of a person whom a proxy signed in, as access_token.scopes; NULL: those of the API token, or of an operator. The column
-- token of such a session has a digest that is no API token's, so that an older release takes it for a revoked token's.
ALTER TABLE session ADD COLUMN scopes TEXT;
-- in PostgreSQL:
-- As SQLite's step of this number.
ALTER TABLE session ADD COLUMN scopes text;
