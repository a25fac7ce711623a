-- step: what was said against tokens
-- in SQLite:
-- What the last answers of a push service say against an app's tokens there, until enough of them say otherwise: each life of the process
-- goes on judging where the one before it ended.
CREATE TABLE token_doubt (
    app_id      INTEGER NOT NULL REFERENCES app (id),
    environment INTEGER NOT NULL CHECK (environment IN (0, 1)),
    kind        INTEGER NOT NULL CHECK (kind IN (0, 1)),  -- 0 they are called dead, 1 the other environment takes them
    answers     INTEGER NOT NULL CHECK (answers >= 0),    -- the last ones
    against     INTEGER NOT NULL CHECK (against BETWEEN 0 AND answers),
    is_suspect  INTEGER NOT NULL CHECK (is_suspect IN (0, 1)),
    PRIMARY KEY (app_id, environment, kind)
) STRICT, WITHOUT ROWID;
-- Whom older releases doubted: of an app's campaigns that were suspended for dead tokens, or had twenty pushes taken, the last one told.
INSERT INTO token_doubt (app_id, environment, kind, answers, against, is_suspect)
    SELECT a.id, e.environment, 0, 0, 0, 1
    FROM app AS a JOIN (SELECT 0 AS environment UNION ALL SELECT 1) AS e
    WHERE 'deadTokens' IS (
        SELECT c.cause FROM campaign AS c WHERE c.app_id = a.id AND (c.cause IS 'deadTokens' OR c.accepted >= 20)
        ORDER BY c.id DESC LIMIT 1);
