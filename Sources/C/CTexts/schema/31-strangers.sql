-- step: what strangers may do
-- in SQLite:
-- PostgreSQL's step of this number is about who else works on its server. A file has no strangers: who may open it may do everything.
-- in PostgreSQL:
-- What strangers of the database may not do: every login of a server may connect to a database unless its owner has taken that away.
-- No function is for others, nor is any right for PUBLIC: `PublicRights` takes it away with each step and at each start.

-- A trigger's function that has its owner's rights serves its own tables alone. Who may execute it could make it a trigger of a table
-- of their own, and ask for any version with that.
CREATE FUNCTION refuse_table(relation oid) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION USING MESSAGE = 'a trigger of the relay''s serves the relay''s tables, not ' || relation::regclass::text,
        ERRCODE = 'insufficient_privilege'; END $$;
CREATE OR REPLACE FUNCTION requirement_guard() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN
    IF TG_RELID <> 'requirement'::regclass THEN PERFORM refuse_table(TG_RELID); END IF;
    IF TG_OP = 'DELETE' THEN PERFORM refuse('requirements are not deleted: they are withdrawn'); END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.kind <> 'blocked' AND EXISTS (
            SELECT FROM requirement AS r WHERE r.app = NEW.app AND r.platform = NEW.platform
                AND r.state IN ('waiting', 'announced', 'in_force') AND r.version_key > NEW.version_key
                AND r.kind = NEW.kind)
        THEN PERFORM refuse('versions only rise'); END IF;
        RETURN NEW;
    END IF;
    IF OLD.state = 'withdrawn' AND NEW.state <> 'withdrawn' THEN
        PERFORM refuse('what was withdrawn is asked for anew'); END IF;
    IF NEW.state = 'asked' AND OLD.state <> 'asked' THEN PERFORM refuse('a requirement is taken up once'); END IF;
    IF (NEW.version, NEW.version_key, NEW.app, NEW.platform, NEW.kind, NEW.id)
        <> (OLD.version, OLD.version_key, OLD.app, OLD.platform, OLD.kind, OLD.id)
    THEN PERFORM refuse('a requirement keeps its version'); END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION requirement_noted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN
    IF TG_RELID <> 'requirement'::regclass THEN PERFORM refuse_table(TG_RELID); END IF;
    INSERT INTO requirement_event (requirement_id, at, state, reach, build, download_url, message, in_force_at, in_force_by,
            reason, by, via, required_from, minimum_os, messages)
        VALUES (NEW.id, NEW.changed_at, NEW.state, NEW.reach, NEW.build, NEW.download_url, NEW.message, NEW.in_force_at,
            NEW.in_force_by, NEW.reason, NEW.changed_by, NEW.changed_via, NEW.required_from, NEW.minimum_os,
            NEW.messages);
    INSERT INTO version AS v (app, platform, required, latest, required_build, latest_build, download_url, message,
            changed_by, changed_from, revision, updated_at)
        SELECT n.app, n.platform, n.required, n.latest, n.required_build, n.latest_build, n.download_url, n.message,
            NEW.changed_by, NEW.changed_via, n.revision, NEW.changed_at
        FROM version_now AS n WHERE n.app = NEW.app AND n.platform = NEW.platform
        ON CONFLICT (app, platform) DO UPDATE SET required = excluded.required, latest = excluded.latest,
            required_build = excluded.required_build, latest_build = excluded.latest_build,
            download_url = excluded.download_url, message = excluded.message, telephones = NULL,
            changed_by = excluded.changed_by, changed_from = excluded.changed_from, revision = excluded.revision,
            updated_at = excluded.updated_at;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION is_kept() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN
    IF TG_RELID NOT IN ('requirement_event'::regclass, 'requirement'::regclass, 'version'::regclass) THEN PERFORM refuse_table(TG_RELID); END IF;
    PERFORM refuse(CASE TG_TABLE_NAME WHEN 'version' THEN 'versions only rise: a version row is never deleted'
                   ELSE 'the history of requirements is neither edited nor deleted' END);
END $$;
CREATE OR REPLACE FUNCTION version_asks() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    was version;      -- all NULL where the row is new
    n version_now;
    moment bigint := now_ms();
    who text;
    -- What was written; NULL: left as it was.
    url text; words text; names text; code bigint; latest_code bigint;
    asked bigint;
BEGIN
    IF TG_RELID <> 'version'::regclass THEN PERFORM refuse_table(TG_RELID); END IF;
    IF TG_OP = 'UPDATE' THEN
        was := OLD;
        IF (NEW.app, NEW.platform) <> (OLD.app, OLD.platform) THEN
            PERFORM refuse('a version row keeps its app and platform'); END IF;
    END IF;
    SELECT * INTO n FROM version_now AS v WHERE v.app = NEW.app AND v.platform = NEW.platform;
    IF NEW.required IS DISTINCT FROM was.required AND n.required_key IS NOT NULL
        AND coalesce(version_key(NEW.required) COLLATE "C" < n.required_key, true)
    THEN PERFORM refuse('versions only rise: required would fall'); END IF;
    IF NEW.latest IS DISTINCT FROM was.latest AND n.latest_key IS NOT NULL
        AND coalesce(version_key(NEW.latest) COLLATE "C" < n.latest_key, true)
    THEN PERFORM refuse('versions only rise: latest would fall'); END IF;
    IF NEW.required_build IS DISTINCT FROM was.required_build AND coalesce(NEW.required_build, 0) < n.required_build THEN
        PERFORM refuse('version codes only rise: required_build would fall'); END IF;
    IF NEW.latest_build IS DISTINCT FROM was.latest_build AND coalesce(NEW.latest_build, 0) < n.latest_build THEN
        PERFORM refuse('version codes only rise: latest_build would fall'); END IF;
    who := CASE WHEN NEW.changed_by IS DISTINCT FROM was.changed_by THEN NEW.changed_by ELSE 'unknown' END;
    url := CASE WHEN NEW.download_url IS DISTINCT FROM was.download_url THEN NEW.download_url END;
    words := CASE WHEN NEW.message IS DISTINCT FROM was.message THEN NEW.message END;
    names := CASE WHEN NEW.telephones IS DISTINCT FROM was.telephones THEN NEW.telephones END;
    code := CASE WHEN NEW.required_build IS DISTINCT FROM was.required_build THEN NEW.required_build END;
    latest_code := CASE WHEN NEW.latest_build IS DISTINCT FROM was.latest_build THEN NEW.latest_build END;
    IF version_key(NEW.required) COLLATE "C" > coalesce(n.required_key, '') OR NEW.required IS NOT NULL AND n.required_key IS NULL THEN
        INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released,
                download_url, message, canary, asked_at, changed_by, changed_via, changed_at)
            VALUES (NEW.app, NEW.platform, 'required', NEW.required, version_key(NEW.required), code, 'asked',
                CASE WHEN names IS NULL THEN 10000 ELSE 0 END, 1, 0, url, words, json_array_length(names::json), moment,
                who, 'database', moment);
    END IF;
    INSERT INTO requirement_canary (requirement_id, number, telephone)
        SELECT v.required_id, t.number - 1, t.telephone
        FROM version_now AS v JOIN requirement AS r ON r.id = v.required_id AND r.state = 'asked' AND r.canary IS NOT NULL,
            json_array_elements_text(names::json) WITH ORDINALITY AS t (telephone, number)
        WHERE v.app = NEW.app AND v.platform = NEW.platform
            AND NOT EXISTS (SELECT FROM requirement_canary AS c WHERE c.requirement_id = v.required_id);
    INSERT INTO requirement (app, platform, kind, version, version_key, build, state, reach, gated, released,
            download_url, message, asked_at, changed_by, changed_via, changed_at)
        SELECT NEW.app, NEW.platform, 'latest', NEW.latest, version_key(NEW.latest), latest_code, 'asked', 10000, 1, 0,
            url, words, moment, who, 'database', moment
        WHERE NEW.latest IS NOT NULL AND NOT EXISTS (
            SELECT FROM version_now AS v WHERE v.app = NEW.app AND v.platform = NEW.platform
                AND v.latest_key >= version_key(NEW.latest) COLLATE "C");
    -- Texts and codes alone are those of what is asked for.
    IF NEW.required IS NOT DISTINCT FROM was.required AND NEW.latest IS NOT DISTINCT FROM was.latest
        AND (NEW.download_url IS DISTINCT FROM was.download_url AND NEW.download_url IS DISTINCT FROM n.download_url
             OR NEW.message IS DISTINCT FROM was.message AND NEW.message IS DISTINCT FROM n.message
             OR code <> coalesce(n.required_build, 0) OR latest_code <> coalesce(n.latest_build, 0))
    THEN
        -- One after the other: the history has them in the order in which they were asked for.
        FOR asked IN SELECT DISTINCT t.id FROM unnest(ARRAY[n.required_id, n.latest_id]) AS t (id) ORDER BY t.id LOOP
            UPDATE requirement AS r SET
                download_url = CASE WHEN NEW.download_url IS DISTINCT FROM was.download_url THEN NEW.download_url
                    ELSE r.download_url END,
                message = CASE WHEN NEW.message IS DISTINCT FROM was.message THEN NEW.message ELSE r.message END,
                build = coalesce(CASE r.id WHEN n.required_id THEN code END,
                    CASE r.id WHEN n.latest_id THEN latest_code END, r.build),
                changed_by = who, changed_via = 'database', changed_at = moment
            WHERE r.id = asked;
        END LOOP;
    END IF;
    UPDATE version AS v SET required = d.required, latest = d.latest, required_build = d.required_build,
            latest_build = d.latest_build, download_url = d.download_url, message = d.message, telephones = NULL,
            revision = d.revision
        FROM version_now AS d WHERE d.app = NEW.app AND d.platform = NEW.platform AND v.app = d.app AND v.platform = d.platform
            AND (v.required, v.latest, v.required_build, v.latest_build, v.download_url, v.message, v.telephones, v.revision)
                IS DISTINCT FROM
                (d.required, d.latest, d.required_build, d.latest_build, d.download_url, d.message, NULL::text, d.revision);
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION audit_guard() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$ BEGIN
    IF TG_RELID <> 'audit'::regclass THEN PERFORM refuse_table(TG_RELID); END IF;
    IF TG_OP = 'DELETE' THEN
        IF OLD.at < (SELECT h.at FROM audit_horizon AS h) THEN RETURN OLD; END IF;
    END IF;
    PERFORM refuse('the audit trail is only added to');
END $$;

-- Locks that nobody can take who may not write the store. An advisory lock is anybody's who may connect, and pg_locks shows its key.

-- A row for each app that was decided of, to be locked: the app's own row is one that every registration refers to.
CREATE TABLE app_lock (
    app      text COLLATE "C" NOT NULL,
    platform text COLLATE "C" NOT NULL,
    PRIMARY KEY (app, platform)
);
CREATE OR REPLACE FUNCTION lock_app(app text, platform text) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
    PERFORM FROM app_lock AS l WHERE l.app = lock_app.app AND l.platform = lock_app.platform FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO app_lock VALUES (lock_app.app, lock_app.platform) ON CONFLICT DO NOTHING;
        PERFORM FROM app_lock AS l WHERE l.app = lock_app.app AND l.platform = lock_app.platform FOR UPDATE;
    END IF;
    PERFORM FROM version AS v WHERE v.app = lock_app.app AND v.platform = lock_app.platform FOR UPDATE;
END $$;

-- An empty table for each relay. Whoever writes for a relay holds its table, and whoever fences that relay waits for it. Not its row in
-- `node`: each lock of a row is a write of its own. Strangers who may read a table can lock it against none of the two ways.
DO $$ BEGIN
    FOR gate IN 0..15 LOOP EXECUTE 'CREATE TABLE node_gate_' || gate || ' ()'; END LOOP;
END $$;
ALTER TABLE node ADD COLUMN gate smallint;
UPDATE node SET gate = id & 15;
-- One that none has, or the least taken: two relays that share one wait for each other where one of them is fenced.
CREATE FUNCTION free_gate() RETURNS smallint LANGUAGE sql VOLATILE SET search_path FROM CURRENT AS $$
    SELECT CAST(g AS smallint) FROM generate_series(0, 15) AS g LEFT JOIN node AS n ON n.gate = g
    GROUP BY g ORDER BY count(n.id) FILTER (WHERE n.gone_at IS NULL), count(n.id), g LIMIT 1
$$;
ALTER TABLE node ALTER gate SET DEFAULT free_gate(), ALTER gate SET NOT NULL, ADD CHECK (gate BETWEEN 0 AND 15);
CREATE OR REPLACE FUNCTION hold_node(node bigint, incarnation bigint) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    gate smallint := (SELECT n.gate FROM node AS n WHERE n.id = hold_node.node);
BEGIN
    IF gate IS NOT NULL THEN EXECUTE 'LOCK TABLE node_gate_' || gate || ' IN ROW SHARE MODE'; END IF;
    IF NOT EXISTS (SELECT FROM node AS n
        WHERE n.id = hold_node.node AND n.incarnation = hold_node.incarnation AND n.gone_at IS NULL)
    THEN
        RAISE EXCEPTION USING MESSAGE = 'another relay has what this one had', ERRCODE = 'UR001';
    END IF;
END $$;
CREATE OR REPLACE FUNCTION exclude_node(node bigint) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    gate smallint := (SELECT n.gate FROM node AS n WHERE n.id = exclude_node.node);
BEGIN
    PERFORM set_config('lock_timeout', '1000', true);
    -- Stronger would wait for whoever reads all tables, such as pg_dump.
    IF gate IS NOT NULL THEN EXECUTE 'LOCK TABLE node_gate_' || gate || ' IN EXCLUSIVE MODE'; END IF;
END $$;
-- How many sessions that were.
CREATE OR REPLACE FUNCTION end_sessions_of_node(node bigint) RETURNS bigint LANGUAGE sql SET search_path FROM CURRENT AS $$
    SELECT count(*) FILTER (WHERE pg_terminate_backend(l.pid)) FROM pg_locks AS l
    WHERE l.locktype = 'relation' AND l.granted AND l.mode = 'RowShareLock' AND l.pid <> pg_backend_pid()
        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        AND l.relation = (SELECT to_regclass('node_gate_' || n.gate) FROM node AS n WHERE n.id = end_sessions_of_node.node)
$$;
