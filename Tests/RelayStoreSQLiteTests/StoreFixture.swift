// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import TestStores
import UpgradeRules

@testable import RelayStoreSQLite

/// A store in a directory of its own, and the few steps that the SQLite tests begin with.
final class StoreFixture: Sendable {
    let directory: TemporaryDirectory
    let path: String
    let store: SQLiteStore
    let app = AppKey(app: "com.example.app", platform: .ios)
    let now = Timestamp(seconds: 1_700_000_000)
    let draft = CampaignDraft(downloadURL: "https://apps.example.com/app", timeToLive: .seconds(60))

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("relay.db")
        try NewStore.copy(to: path)
        store = try SQLiteStore(path: path)
    }

    deinit {
        store.close()
    }

    /// Closes the store and replaces it by one of schema version 15 with the same content, as far as the tests of older stores
    /// make it: one app, one requirement in force, its campaign.
    func age() throws {
        store.close()
        let new = path + ".new"
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.moveItem(atPath: path + suffix, toPath: new + suffix)
        }
        try StoreFile.create(path)
        let old = try SQLiteConnection(path: path)
        try old.execute("PRAGMA journal_mode = WAL; PRAGMA auto_vacuum = INCREMENTAL")
        try Migration.run(
            on: old, path: path, release: "old", at: now, chain: Migration.chain.filter { $0.toVersion <= 15 })
        try old.execute(SQL(typed: "ATTACH '\(new)' AS new; PRAGMA foreign_keys = OFF"))
        try old.execute("DELETE FROM new.campaign_reason WHERE kind = 'channel'")
        for table in ["app", "device", "former_telephone", "version_seen"] { try Self.copy(table, old) }
        try old.execute(Self.oldRequirement)
        try old.execute(Self.oldShards)
        for table in ["delivery", "delivery_batch", "delivery_upgrade", "campaign_wave", "campaign_reason"] {
            try Self.copy(table, old)
        }
        try old.execute("DETACH new")
    }

    /// Closes the store and replaces it by one of schema version 20 with the same content.
    func undoRuns() throws {
        store.close()
        let new = path + ".new"
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.moveItem(atPath: path + suffix, toPath: new + suffix)
        }
        try StoreFile.create(path)
        let old = try SQLiteConnection(path: path)
        try old.execute("PRAGMA journal_mode = WAL; PRAGMA auto_vacuum = INCREMENTAL")
        try Migration.run(
            on: old, path: path, release: "old", at: now, chain: Migration.chain.filter { $0.toVersion <= 20 })
        try old.execute(SQL(typed: "ATTACH '\(new)' AS new; PRAGMA foreign_keys = OFF"))
        try old.execute("DELETE FROM new.campaign_reason WHERE kind = 'channel'")
        let triggers = try old.all("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'") {
            (name: $0.text(), sql: $0.text())
        }
        for trigger in triggers { try old.execute(SQL(typed: "DROP TRIGGER main.\(trigger.name)")) }
        let tables = try old.all(
            "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT IN ('shard', 'release', 'migration')"
        ) { $0.text() }
        for table in tables where !table.hasPrefix("sqlite_") { try Self.copy(table, old) }
        try old.execute(
            """
            UPDATE main.campaign SET accepted = n.accepted, retrying = n.retrying, rejected = n.rejected,
                unregistered = n.unregistered, expired = n.expired, filtered = n.filtered, cancelled = n.cancelled
                FROM new.campaign_run AS n WHERE n.campaign_id = campaign.id
            """)
        try old.execute(Self.oldShards)
        try old.execute(
            """
            UPDATE main.shard SET rest = n.rest FROM new.campaign_run AS n
            WHERE n.campaign_id = shard.campaign_id AND shard.cursor < shard.last
            """)
        for trigger in triggers { try old.execute(SQL(typed: trigger.sql)) }
        try old.execute("DETACH new")
    }

    /// Copies the columns of a table that both schemas have; a table that has gone since stays empty.
    private static func copy(_ table: String, _ old: SQLiteConnection) throws {
        let columns = try old.all(
            """
            SELECT name FROM pragma_table_info(?1, 'main') INTERSECT SELECT name FROM pragma_table_info(?1, 'new')
            """, table
        ) { $0.text() }.joined(separator: ", ")
        guard !columns.isEmpty else { return }
        try old.execute(
            SQL(
                typed:
                    "DELETE FROM main.\(table); INSERT INTO main.\(table) (\(columns)) SELECT \(columns) FROM new.\(table)"
            ))
    }

    private static let oldShards: SQL = """
        INSERT INTO main.shard (campaign_id, number, cursor, last, remaining, done, wave, environment, packs)
            SELECT s.campaign_id, s.number, s.cursor, s.last, s.remaining, s.cursor = s.last OR n.rest IS NOT NULL, s.wave,
                s.environment, s.packs
            FROM new.shard AS s JOIN new.campaign_run AS n ON n.campaign_id = s.campaign_id;
        """

    private static let oldRequirement: SQL = """
        INSERT INTO version (app, platform, latest, required, telephones, changed_by, changed_from, revision, updated_at)
            SELECT r.app, r.platform, r.version, r.version,
                (SELECT json_group_array(c.telephone) FROM new.requirement_canary AS c HAVING count(*) > 0),
                r.changed_by, r.changed_via, 1, r.asked_at FROM new.requirement AS r;
        INSERT INTO in_force (app, platform, canary, required, latest, telephones, since, opened_by, changed_at, changed_by,
                changed_from)
            SELECT app, platform, telephones IS NOT NULL, required, required, telephones, updated_at, 'noGate', updated_at,
                'noGate', 'bump' FROM version;
        INSERT INTO campaign (id, public_id, app_id, required, required_canonical, latest, download_url, telephones, state,
                created_at, started_at, expires_at, planned_at, accepted, retrying, canary)
            SELECT c.id, c.public_id, c.app_id, c.required, c.required, c.latest, c.download_url, v.telephones, c.state,
                c.created_at, c.started_at, c.expires_at, c.planned_at, n.accepted, n.retrying,
                iif(v.telephones IS NULL, NULL, 'alone')
            FROM new.campaign AS c JOIN new.campaign_run AS n ON n.campaign_id = c.id, version AS v;
        """

    /// Makes a store of version 15 one of version 6.
    static let undoEnvironments = """
        DROP TRIGGER campaign_event_canary; ALTER TABLE campaign DROP COLUMN canary;
        ALTER TABLE campaign DROP COLUMN canary_ended_at;
        DROP TABLE campaign_round; ALTER TABLE shard DROP COLUMN rest; ALTER TABLE delivery DROP COLUMN again;
        DROP TABLE campaign_told; DROP TABLE campaign_adoption; ALTER TABLE campaign DROP COLUMN upgraded_push;
        ALTER TABLE campaign DROP COLUMN upgraded_login; ALTER TABLE campaign DROP COLUMN upgraded_both;
        ALTER TABLE campaign DROP COLUMN told;
        DROP TRIGGER campaign_event_in_force; ALTER TABLE campaign_event DROP COLUMN in_force;
        ALTER TABLE campaign DROP COLUMN required_build; DROP TABLE in_force_history; DROP TABLE in_force;
        DROP INDEX campaign_open;
        CREATE UNIQUE INDEX campaign_open ON campaign (app_id)
            WHERE state NOT IN ('completed', 'cancelled', 'superseded');
        ALTER TABLE access_token DROP COLUMN apps; ALTER TABLE webhook DROP COLUMN digest;
        DROP INDEX device_sandbox; DROP INDEX device_moved; DROP INDEX shard_open; DROP INDEX delivery_retry;
        ALTER TABLE device DROP COLUMN planned_environment; ALTER TABLE shard DROP COLUMN environment;
        ALTER TABLE shard DROP COLUMN packs; ALTER TABLE delivery DROP COLUMN environment;
        CREATE INDEX shard_open ON shard (campaign_id, number, remaining) WHERE done = 0;
        CREATE INDEX delivery_retry ON delivery (campaign_id, next_attempt_at) WHERE state = 3;
        DELETE FROM migration WHERE version >= 7; PRAGMA user_version = 6;

        """

    /// Runs a script on the store of an older version, as its release could have.
    func administerOld(_ script: String) throws {
        let old = try SQLiteConnection(path: path)
        try old.execute(SQL(typed: script))
    }

    /// A second connection, as another program has one.
    func outsider() throws -> SQLiteStore { try SQLiteStore(path: path) }

    func bump(latest: String? = nil, required: String? = nil) throws {
        let bump = VersionBump(
            app: app, latest: try latest.map { try Version($0) }, required: try required.map { try Version($0) })
        _ = try store.apply(bump, actor: "tester", source: "test", at: now, draft: nil, receipt: nil) { _ in
            StoredAnswer(status: 200, body: [])
        }
    }

    func registerDevices(_ numbers: Range<Int>) throws {
        try store.register(
            numbers.map {
                DeviceRegistration(app: app, token: "token-number-\($0)", telephone: "138\($0)", version: nil)
            }, at: now)
    }
}

/// The error's code, or nil when `body` threw none.
func code<Value>(_ body: () throws -> Value) throws -> StoreError.Code? {
    do {
        _ = try body()
        return nil
    } catch let error as StoreError {
        return error.code
    }
}

/// The error's text, empty when `body` threw none.
func complaint<Value>(_ body: () throws -> Value) -> String {
    do {
        _ = try body()
        return ""
    } catch {
        return "\(error)"
    }
}
