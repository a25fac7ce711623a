// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelayStoreSQLite

@Suite("What SQLite's planner makes of the statements that are run most")
struct QueryPlanTests {
    private func plan(_ sql: SQL) throws -> [String] {
        let fixture = try StoreFixture()
        return try fixture.store.inspect("EXPLAIN QUERY PLAN \(sql)").compactMap(\.last)
    }

    @Test("A batch of devices is read by the rowid range, without an index and without sorting")
    func readDevices() throws {
        #expect(
            try plan(LedgerSQL.readDevices) == ["SEARCH device USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"])
        #expect(try plan(LedgerSQL.readWave) == plan(LedgerSQL.readDevices))
    }

    @Test("An index over app and token, and statistics in its favour, do not tempt that read away from the rowid range")
    func readDevicesBesideATemptation() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<2000)
        try fixture.store.administer("CREATE INDEX tempting ON device (app_id, token); ANALYZE")
        let plan = try fixture.store.inspect("EXPLAIN QUERY PLAN \(LedgerSQL.readDevices)").compactMap(\.last)
        #expect(plan == ["SEARCH device USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"])
    }

    @Test("The batch around a device is one seek for its key and one for itself")
    func batchAroundADevice() throws {
        #expect(
            try plan(DeliveryBatchTable.find) == [
                "SEARCH delivery_batch USING PRIMARY KEY (campaign_id=? AND last=?)", "SCALAR SUBQUERY 1",
                "SEARCH delivery_batch USING PRIMARY KEY (campaign_id=? AND last>?)",
            ])
    }

    @Test("Due retries come from their index; only what was taken is sorted")
    func readDueRetries() throws {
        let plan = try plan(LedgerSQL.readDueRetries).joined(separator: "\n")
        #expect(plan.contains("SEARCH delivery USING COVERING INDEX") || plan.contains("SEARCH delivery USING INDEX"))
        #expect(plan.contains("delivery_retry (campaign_id=? AND next_attempt_at<?)"))
        #expect(plan.contains("SEARCH d USING INTEGER PRIMARY KEY (rowid=?)"))
    }

    @Test("A token is looked up by its hash, and nothing goes through all devices of an app")
    func devices() throws {
        let app = "SEARCH a USING INTEGER PRIMARY KEY (rowid=?)"
        #expect(try plan(DeviceTable.find) == ["SEARCH d USING INDEX device_token (token_hash=?)", app])
        #expect(
            try plan("SELECT id FROM device \(DeviceTable.isToken)")
                == ["SEARCH device USING INDEX device_token (token_hash=?)"])
        #expect(try plan(DeviceTable.page) == ["SEARCH d USING INTEGER PRIMARY KEY (rowid>?)", app])
        #expect(try plan(DeviceTable.pageOfApp) == ["SEARCH d USING INDEX device_live (app_id=? AND rowid>?)", app])
    }
}
