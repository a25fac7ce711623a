// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

@Suite("What SQLite's planner makes of the statements that are run most")
struct QueryPlanTests {
    private func plan(_ sql: SQL) throws -> [String] {
        let fixture = try StoreFixture()
        return try fixture.store.inspect("EXPLAIN QUERY PLAN \(sql)").compactMap(\.last)
    }

    private static let byRowid = ["SEARCH device USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"]
    private static let byChannel = [
        "SEARCH device USING INDEX device_channel (app_id=? AND <expr>=? AND rowid>? AND rowid<?)"
    ]

    /// A store with statistics of many devices, every hundredth of the sandbox, and many retries.
    private func largeStore() throws -> StoreFixture {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<5000)
        try fixture.bump(required: "2.0")
        _ = try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now)
        try fixture.store.administer(
            """
            UPDATE device SET environment = 1 WHERE id % 100 = 0;
            INSERT INTO shard (campaign_id, number, cursor, last, remaining, environment)
                SELECT 1, id, id, id + 1, 1, id % 2 FROM device WHERE id < 1000;
            INSERT INTO delivery (campaign_id, device_id, state, attempts, next_attempt_at, updated_at, environment)
                SELECT 1, id, 3, 1, id, 0, id % 2 FROM device;
            ANALYZE;
            """)
        return fixture
    }

    /// SQLite makes a table of a CHECK's list of more than two values, anew for each row.
    @Test(
        "a row that is written makes no table of a list",
        arguments: [
            "device (app_id, token, environment, planned_environment)",
            "delivery (campaign_id, device_id, environment, state)",
            "shard (campaign_id, environment, wave, last)", "token_doubt (app_id, environment, kind, answers)",
        ])
    func writesWithoutALookUp(columns: String) throws {
        let fixture = try StoreFixture()
        let codes = try fixture.store.inspect("EXPLAIN INSERT INTO \(columns) VALUES (1, 1, 1, 1)").compactMap {
            $0.dropFirst().first ?? nil
        }
        #expect(codes.contains("OpenWrite") && !codes.contains("OpenEphemeral"), "\(codes)")
    }

    @Test("A batch of devices is read by the rowid range, of the sandbox by its index, and nothing is sorted")
    func readDevices() throws {
        for fixture in [try StoreFixture(), try largeStore()] {
            func plan(_ channel: Channel, _ withoutRows: Bool) throws -> [String] {
                let sql = LedgerSQL.readDevices(of: channel, withoutRows: withoutRows)
                return try fixture.store.inspect("EXPLAIN QUERY PLAN \(sql)").compactMap(\.last)
            }
            for withoutRows in [false, true] {
                #expect(try plan(.production, withoutRows).first == Self.byRowid.first)
                #expect(try plan(.sandbox, withoutRows).first == Self.byChannel.first)
                #expect(try plan(Channel(.fcm, on: .ios), withoutRows).first == Self.byChannel.first)
            }
        }
    }

    @Test("An index over app and token, and statistics in its favour, do not tempt that read away from the rowid range")
    func readDevicesBesideATemptation() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<2000)
        try fixture.store.administer("CREATE INDEX tempting ON device (app_id, token); ANALYZE")
        let sql = LedgerSQL.readDevices(of: .production)
        let plan = try fixture.store.inspect("EXPLAIN QUERY PLAN \(sql)").compactMap(\.last)
        #expect(plan == Self.byRowid)
    }

    @Test("What an environment has left is one seek each, whatever the other has")
    func channels() throws {
        for fixture in [try StoreFixture(), try largeStore()] {
            func plan(_ sql: SQL) throws -> [String] {
                try fixture.store.inspect("EXPLAIN QUERY PLAN \(sql)").compactMap(\.last)
            }
            #expect(
                try plan(LedgerSQL.nextRetry) == [
                    "SEARCH delivery USING INDEX delivery_retry (campaign_id=? AND environment=?)",
                    "SCALAR SUBQUERY 1", "SEARCH n USING INTEGER PRIMARY KEY (rowid=?)",
                ])
            #expect(
                try plan("SELECT d.id \(AudienceSQL.devices(of: .sandbox, .sqlite)) ORDER BY d.app_id, d.id")
                    == ["SEARCH d USING INDEX device_channel (app_id=? AND <expr>=? AND rowid>?)"])
            #expect(
                try plan(MovedDevices.page(.sqlite))
                    == ["SEARCH device USING INDEX device_moved (app_id=? AND rowid>?)"])
            #expect(
                try plan(DeviceTable.changeEnvironment) == ["SEARCH device USING INTEGER PRIMARY KEY (rowid=?)"])
        }
    }

    @Test("The batch around a device is one seek for its key and one for itself")
    func batchAroundADevice() throws {
        #expect(
            try plan(DeliveryBatchTable.find) == [
                "SEARCH delivery_batch USING PRIMARY KEY (campaign_id=? AND last=?)", "SCALAR SUBQUERY 1",
                "SEARCH delivery_batch USING PRIMARY KEY (campaign_id=? AND last>?)",
            ])
    }

    @Test("Due retries come from their index, those of one environment; only what was taken is sorted")
    func readDueRetries() throws {
        for fixture in [try StoreFixture(), try largeStore()] {
            let plan = try fixture.store.inspect("EXPLAIN QUERY PLAN \(LedgerSQL.readDueRetries)").compactMap(\.last)
                .joined(separator: "\n")
            #expect(
                plan.contains("SEARCH delivery USING COVERING INDEX") || plan.contains("SEARCH delivery USING INDEX"))
            #expect(plan.contains("delivery_retry (campaign_id=? AND environment=? AND next_attempt_at<?)"))
            #expect(plan.contains("SEARCH d USING INTEGER PRIMARY KEY (rowid=?)"))
        }
    }

    @Test("Dead tokens come from their index, in its order, and nothing is sorted")
    func deadTokens() throws {
        for fixture in [try StoreFixture(), try largeStore()] {
            let found = "SEARCH d USING INDEX device_retired (app_id=? AND retired_order>? AND retired_order<?)"
            let plan: (SQL) throws -> [String] = { sql in
                try fixture.store.inspect("EXPLAIN QUERY PLAN \(sql)").compactMap(\.last)
            }
            #expect(try plan(DeadTable.places) == [found])
            #expect(try plan(DeadTable.page) == [found, "SEARCH a USING INTEGER PRIMARY KEY (rowid=?)"])
        }
    }

    @Test("Who did what comes newest first from the key, or from the index of what is asked for, and nothing is sorted")
    func audit() throws {
        var (ofCampaign, ofApp, since) = (AuditFilter(), AuditFilter(), AuditFilter())
        ofCampaign.campaign = "0123456789ab"
        (ofApp.app, ofApp.platform) = ("a", .ios)
        since.since = Timestamp(seconds: 1)
        for (filter, search) in [
            (AuditFilter(), "INTEGER PRIMARY KEY (rowid<?)"), (since, "INTEGER PRIMARY KEY (rowid<?)"),
            (ofCampaign, "INDEX audit_campaign (campaign=? AND rowid<?)"),
            (ofApp, "INDEX audit_app (app=? AND rowid<?)"),
        ] {
            let condition = AuditTable.condition(filter, before: nil).condition
            #expect(
                try plan("SELECT \(AuditEntry.columns) FROM audit WHERE \(condition) ORDER BY id DESC LIMIT 50")
                    == ["SEARCH audit USING \(search)"])
        }
    }

    @Test("Who did what is neither edited nor deleted, but for what was said to be old")
    func auditIsKept() throws {
        let fixture = try StoreFixture()
        try fixture.store.note(AuditEntry(at: fixture.now, actor: .relay, action: "relay.reload"))
        for sql in ["UPDATE audit SET actor = 'nobody'", "DELETE FROM audit"] {
            #expect(throws: (any Error).self, "\(sql)") { try fixture.store.administer(sql) }
        }
        #expect(try fixture.store.audit(AuditFilter(), before: nil, limit: 9).map(\.actor) == [.relay])
        #expect(try fixture.store.forgetAudit(before: fixture.now + .seconds(1)) == 1)
    }

    @Test("Requests that are over come from their index")
    func requests() throws {
        #expect(
            try plan("SELECT id FROM approval WHERE \(ApprovalTable.isOver) LIMIT 9")
                == ["SEARCH approval USING INDEX approval_over (<expr><?)"])
    }

    @Test("Devices are counted by version in the order of their ids, from those of the app alone")
    func versions() throws {
        for fixture in [try StoreFixture(), try largeStore()] {
            let plan = try fixture.store.inspect("EXPLAIN QUERY PLAN \(VersionShareTable.part(.sqlite))")
                .compactMap(\.last)
            #expect(plan.contains("SEARCH device USING INDEX device_live (app_id=? AND rowid>?)"), "\(plan)")
        }
    }

    @Test("A token is looked up by its hash, and nothing goes through all devices of an app")
    func devices() throws {
        let app = "SEARCH a USING INTEGER PRIMARY KEY (rowid=?)"
        #expect(try plan(DeviceTable.find) == ["SEARCH d USING INDEX device_token (token_hash=?)", app])
        #expect(
            try plan("SELECT id FROM device \(DeviceTable.isToken)")
                == ["SEARCH device USING INDEX device_token (token_hash=?)"])
        #expect(try plan(DeviceList.page(.sqlite)) == ["SEARCH d USING INTEGER PRIMARY KEY (rowid>?)", app])
        #expect(
            try plan(DeviceList.pageOfApp(.sqlite))
                == ["SEARCH d USING INDEX device_live (app_id=? AND rowid>?)", app])
        #expect(
            try plan(DeviceList.pageOfUser(.sqlite))
                == ["SEARCH d USING INDEX device_telephone (telephone=? AND rowid>?)", app])
    }
}
