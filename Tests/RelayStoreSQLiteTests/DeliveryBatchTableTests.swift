// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

@Suite("The ledger's batches")
struct DeliveryBatchTableTests {
    @Test("Of a campaign without events the ledger has no row for a device; those with one have")
    func form() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<2300)
        try fixture.campaign("2", at: fixture.now) { number in number % 4 == 0 }
        #expect(try fixture.store.inspect("SELECT count(*) FROM delivery") == [["0"]])
        #expect(
            try fixture.store.inspect("SELECT first, last, accepted + filtered FROM delivery_batch ORDER BY last")
                == [["1", "1000", "1000"], ["1001", "2000", "1000"], ["2001", "2300", "300"]])
    }

    @Test("The database itself refuses batches that overlap or are changed")
    func guards() throws {
        let fixture = try StoreFixture()
        try fixture.campaignOfTen()
        func insert(_ first: Int, _ last: Int) -> String {
            complaint {
                try fixture.store.administer(
                    """
                    INSERT INTO delivery_batch (campaign_id, first, last, updated_at, accepted, filtered, outcomes, telephones)
                    VALUES (1, \(first), \(last), 0, 1, 0, x'00', x'00')
                    """)
            }
        }
        try fixture.registerDevices(10..<20)
        #expect(insert(10, 12).contains("do not overlap"))
        #expect(insert(1, 1).contains("do not overlap"))
        #expect(insert(11, 99).contains("FOREIGN KEY"))
        #expect(insert(12, 11).contains("CHECK"))
        #expect(insert(11, 12) == "")
        #expect(complaint { try fixture.store.administer("UPDATE delivery_batch SET accepted = 2") }.contains("never"))
    }

    @Test("A store from before goes on in the middle of a campaign: its rows stay, what comes is in batches")
    func olderStore() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<50)
        try fixture.bump(required: "2")
        let campaign = try #require(
            try fixture.store.reconcile(fixture.app, draft: fixture.draft, at: fixture.now).campaign, "a campaign")
        try fixture.store.planShards(campaign.key, shardSize: 99, waves: nil, at: fixture.now)
        func commit(_ store: SQLiteStore, after: Int64, limit: Int, attempts: UInt16) throws {
            var devices = DeviceRows()
            try store.readDevices(
                fixture.app, channel: .production, after: after, through: .max, limit: limit, into: &devices)
            let rows = devices.rows.map {
                LedgerRow(device: $0.id, state: .accepted, attempts: attempts, telephone: $0.telephone)
            }
            let commit = LedgerCommit(
                campaign: campaign.key, shard: try store.firstShard(of: campaign.key),
                cursor: devices.rows.last?.id ?? 0,
                shardDone: devices.rows.last?.id == 50, rows: rows, devices: devices, retirements: [])
            try store.commitAnew([commit], at: fixture.now)
        }
        // A second attempt gets a row; then the step is undone, and the rows are those of the release before.
        try commit(fixture.store, after: 0, limit: 30, attempts: 2)
        try fixture.age()
        try fixture.administerOld(
            """
            \(StoreFixture.undoEnvironments)
            UPDATE delivery SET attempts = 1; DROP TABLE delivery_batch; DROP TABLE delivery_upgrade;
            DROP TABLE campaign_wave; ALTER TABLE shard DROP COLUMN wave;
            ALTER TABLE provider_token DROP COLUMN paused_until;
            DELETE FROM migration WHERE version >= 4; PRAGMA user_version = 3;
            """)

        let store = try fixture.outsider()
        defer { store.close() }
        try commit(store, after: 30, limit: 30, attempts: 1)
        #expect(try store.inspect("SELECT count(*) FROM delivery") == [["30"]])
        #expect(try store.inspect("SELECT sum(accepted) FROM delivery_batch") == [["20"]])
        #expect(try store.completeIfDone(campaign.key, at: fixture.now))
        let list = try store.deliveries(of: campaign.key, DeliveryFilter(state: .accepted), after: 0, limit: 99)
        #expect(list.map(\.device) == Array(1...50))
        #expect(list.map(\.telephone) == (0..<50).map { "138\($0)" })
        #expect(list.allSatisfy { $0.attempts == 1 && $0.updatedAt == fixture.now })
        for number in [3, 40] {
            let sighting = Sighting(
                app: fixture.app, token: "token-number-\(number)", version: try Version("2"))
            try store.sawVersions([sighting], at: fixture.now)
        }
        #expect(try store.campaign(campaign.key)?.figures.upgraded == 2)
        #expect(try store.check { _ in true } == [])
        let end = fixture.now + .seconds(99)
        #expect(try store.prune(before: end, at: end) { _ in true }.deliveries == 50)
    }
}
