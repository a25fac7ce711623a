// SPDX-License-Identifier: Apache-2.0

/// A signed change from "withdraw" may take versions back; everything else still only raises them. A row that is made anew
/// is held against the newest entry of the history alone: the ones before it may have been withdrawn.
enum WithdrawalSchema {
    static let sql: SQL = """
        DROP TRIGGER version_rises;
        CREATE TRIGGER version_rises AFTER UPDATE ON version BEGIN
            SELECT RAISE(ABORT, 'versions only rise: required would fall')
                WHERE NOT \(isWithdrawal) AND \(FirstVersionSchema.falls("required", from: "OLD.required"));
            SELECT RAISE(ABORT, 'versions only rise: latest would fall')
                WHERE NOT \(isWithdrawal) AND \(FirstVersionSchema.falls("latest", from: "OLD.latest"));
            SELECT RAISE(ABORT, 'a version row keeps its app and platform')
                WHERE NEW.app <> OLD.app OR NEW.platform <> OLD.platform;
            SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
                WHERE \(FirstVersionSchema.hasLongNumber("NEW.latest"))
                    OR \(FirstVersionSchema.hasLongNumber("NEW.required"));
        END;

        DROP TRIGGER version_builds_rise;
        CREATE TRIGGER version_builds_rise AFTER UPDATE ON version WHEN NOT \(isWithdrawal) BEGIN
            SELECT RAISE(ABORT, 'version codes only rise: latest_build would fall')
                WHERE OLD.latest_build IS NOT NULL AND coalesce(NEW.latest_build < OLD.latest_build, 1);
            SELECT RAISE(ABORT, 'version codes only rise: required_build would fall')
                WHERE OLD.required_build IS NOT NULL AND coalesce(NEW.required_build < OLD.required_build, 1);
        END;

        -- In what order triggers run is SQLite's own affair, so one checks all before the same one writes the history.
        DROP TRIGGER IF EXISTS version_builds_rise_from_history;
        DROP TRIGGER version_inserted_unsigned;
        CREATE TRIGGER version_inserted_unsigned AFTER INSERT ON version WHEN NEW.revision = 0 BEGIN
            \(riseFromHistory)
            UPDATE version SET \(FirstVersionSchema.sign),
                revision = 1 + (SELECT coalesce(max(h.revision), 0) FROM version_history AS h
                                WHERE h.app = NEW.app AND h.platform = NEW.platform)
                WHERE app = NEW.app AND platform = NEW.platform;
        END;
        DROP TRIGGER version_inserted_signed;
        CREATE TRIGGER version_inserted_signed AFTER INSERT ON version WHEN NEW.revision <> 0 BEGIN
            \(riseFromHistory)
            SELECT RAISE(ABORT, 'revision counts up by one')
                FROM version_history AS old WHERE old.app = NEW.app AND old.platform = NEW.platform
                    AND old.revision >= NEW.revision;
            \(FirstVersionSchema.latestIsNotOlder)
            \(Migration.record)
        END;
        """

    /// Of an update. The row of a withdrawal stays signed as one until the next change, which counts the revision up too.
    private static let isWithdrawal: SQL =
        "(NEW.changed_from = 'withdraw' AND NEW.revision = OLD.revision + 1)"

    private static let isNewest: SQL = """
        old.app = NEW.app AND old.platform = NEW.platform
                    AND old.revision = (SELECT max(h.revision) FROM version_history AS h
                                        WHERE h.app = NEW.app AND h.platform = NEW.platform)
        """

    private static let riseFromHistory: SQL = """
        SELECT RAISE(ABORT, 'versions only rise: required would fall')
                FROM version_history AS old WHERE \(isNewest)
                    AND \(FirstVersionSchema.falls("required", from: "old.required"));
            SELECT RAISE(ABORT, 'versions only rise: latest would fall')
                FROM version_history AS old WHERE \(isNewest)
                    AND \(FirstVersionSchema.falls("latest", from: "old.latest"));
            SELECT RAISE(ABORT, 'version codes only rise: a build would fall')
                FROM version_history AS old WHERE \(isNewest)
                    AND (old.latest_build IS NOT NULL AND coalesce(NEW.latest_build < old.latest_build, 1)
                         OR old.required_build IS NOT NULL AND coalesce(NEW.required_build < old.required_build, 1));
            SELECT RAISE(ABORT, 'a number in a version has at most 18 digits')
                WHERE \(FirstVersionSchema.hasLongNumber("NEW.latest"))
                    OR \(FirstVersionSchema.hasLongNumber("NEW.required"));
        """
}
