-- step: who obeyed, over time
-- in SQLite:
-- How `upgraded` has come about. Beside each other, not within: their sum is at most `upgraded`, and what is missing
-- was neither pushed nor told, or was counted by an older release.
ALTER TABLE campaign ADD COLUMN upgraded_push INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_push >= 0);
ALTER TABLE campaign ADD COLUMN upgraded_login INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_login >= 0);
ALTER TABLE campaign ADD COLUMN upgraded_both INTEGER NOT NULL DEFAULT 0 CHECK (upgraded_both >= 0);
-- Devices that were told at login that they must upgrade, each once.
ALTER TABLE campaign ADD COLUMN told INTEGER NOT NULL DEFAULT 0 CHECK (told >= 0);

-- Which they are. A row goes with its device or with the campaign's ledger, whichever goes first.
CREATE TABLE campaign_told (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    device_id   INTEGER NOT NULL REFERENCES device (id),
    PRIMARY KEY (campaign_id, device_id)
) STRICT, WITHOUT ROWID;

-- How many devices had upgraded at which moment; a row where the number had changed, a minute apart at least in the
-- campaign's first day and an hour later, some two thousand at most.
CREATE TABLE campaign_adoption (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    at          INTEGER NOT NULL,
    upgraded    INTEGER NOT NULL CHECK (upgraded > 0),
    PRIMARY KEY (campaign_id, at)
) STRICT, WITHOUT ROWID;
