-- step: apps of API tokens, digests of webhooks
-- in SQLite:
-- The apps that the token is bound to, one a line; NULL: all.
ALTER TABLE access_token ADD COLUMN apps TEXT;
-- Of the body: the same id with another body is refused. NULL: of an older release.
ALTER TABLE webhook ADD COLUMN digest INTEGER;
