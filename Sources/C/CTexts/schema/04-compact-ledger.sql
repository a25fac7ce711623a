-- step: a compact ledger
-- in SQLite:
-- The ledger's compact part: devices of one batch whose push was accepted at the first attempt or filtered. All others
-- have a row in delivery. Nobody has both: what happens to such a device later turns its batch into rows first.
CREATE TABLE delivery_batch (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    last        INTEGER NOT NULL REFERENCES device (id),
    first       INTEGER NOT NULL REFERENCES device (id),
    updated_at  INTEGER NOT NULL,
    accepted    INTEGER NOT NULL CHECK (accepted >= 0),  -- how many of its devices
    filtered    INTEGER NOT NULL CHECK (filtered >= 0),
    -- For each device, ascending, a number of 7 bits a byte, lowest first, the highest bit set in all bytes but the
    -- last: 8 * (devices' ids left out since the one before) + outcome. Outcomes: 0 accepted, filtered because of
    -- 1 noTelephone, 2 alreadyCurrent, 3 notInAudience, 4 knownDead.
    outcomes    BLOB NOT NULL,
    -- For each device, whom the push was for: 0 for nobody, or such a number, 1 + bytes of the telephone, and these.
    telephones  BLOB NOT NULL,
    CHECK (first <= last AND accepted + filtered BETWEEN 1 AND last - first + 1),
    CHECK (length(outcomes) >= accepted + filtered AND length(telephones) >= accepted + filtered),
    PRIMARY KEY (campaign_id, last)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER delivery_batches_are_apart BEFORE INSERT ON delivery_batch BEGIN
    SELECT RAISE(ABORT, 'batches of a campaign do not overlap')
        WHERE (SELECT first FROM delivery_batch WHERE campaign_id = NEW.campaign_id AND last >= NEW.first
               ORDER BY last LIMIT 1) <= NEW.last;
END;
CREATE TRIGGER delivery_batch_is_not_edited BEFORE UPDATE ON delivery_batch BEGIN
    SELECT RAISE(ABORT, 'a batch is never changed: it becomes rows of delivery');
END;

-- Devices of delivery_batch that have come up to the requirement since, counted in campaign.upgraded. Rows of delivery
-- have a column for it.
CREATE TABLE delivery_upgrade (
    campaign_id INTEGER NOT NULL REFERENCES campaign (id),
    device_id   INTEGER NOT NULL REFERENCES device (id),
    PRIMARY KEY (campaign_id, device_id)
) STRICT, WITHOUT ROWID;
