-- Which store this is, and how far it is: a copy from before a decision does not hold it, and is known by that.
CREATE TABLE store_identity (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    identity TEXT NOT NULL    -- random; another one since a person took the store on that had gone back
) STRICT;
INSERT INTO store_identity (id, identity) VALUES (1, lower(hex(randomblob(16))));
-- One row, or more, for each transaction that decides; the newest of them. The sign is random: two stores that went apart have others.
CREATE TABLE decision (
    number INTEGER PRIMARY KEY,
    sign   TEXT NOT NULL
) STRICT;
INSERT INTO decision (number, sign) VALUES (1, lower(hex(randomblob(8))));
CREATE TRIGGER decision_forgotten AFTER INSERT ON decision BEGIN
    DELETE FROM decision WHERE number <= NEW.number - 10000;
END;
-- A person's words that the store is to be worked on although it fell behind what relays had seen.
CREATE TABLE store_word (
    id       INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    actor    TEXT NOT NULL,
    identity TEXT NOT NULL,     -- these three: what had been seen
    decision INTEGER NOT NULL,
    recorded INTEGER NOT NULL
) STRICT;

CREATE TRIGGER audit_decides AFTER INSERT ON audit BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER version_decides_new AFTER INSERT ON version BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER version_decides AFTER UPDATE ON version BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER requirement_decides_new AFTER INSERT ON requirement BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER requirement_decides AFTER UPDATE ON requirement BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER campaign_decides_new AFTER INSERT ON campaign BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER campaign_decides AFTER UPDATE OF state ON campaign BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER campaign_run_decides AFTER UPDATE OF owner ON campaign_run WHEN NEW.owner IS NOT OLD.owner BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER access_token_decides_new AFTER INSERT ON access_token BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER access_token_decides AFTER UPDATE OF hash, scopes, apps, revoked_at ON access_token BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER access_token_decides_gone AFTER DELETE ON access_token BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER session_decides_gone AFTER DELETE ON session BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER alert_decides_new AFTER INSERT ON alert BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER alert_decides AFTER UPDATE ON alert BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;
CREATE TRIGGER alert_decides_gone AFTER DELETE ON alert BEGIN
    INSERT INTO decision (sign) VALUES (lower(hex(randomblob(8))));
END;

-- Which process a relay is: of two of one name the second is refused while the first is there.
ALTER TABLE node ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE node ADD COLUMN process TEXT NOT NULL DEFAULT '';  -- '': of a release that does not say it
