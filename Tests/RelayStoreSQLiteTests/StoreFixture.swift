// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import RelayStoreSQLite
import UpgradeRules

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
        store = try SQLiteStore(path: path)
    }

    deinit {
        store.close()
    }

    /// Makes a store of the newest version one of version 6.
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
