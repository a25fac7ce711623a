// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import RelayStoreSQLite
import Testing
import UpgradeRules

@Suite("Campaigns for named users of older releases") struct CanaryMigrationTests {
    @Test("One that is open keeps them as its whole audience, and is not released")
    func open() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<10)
        let bump = VersionBump(app: fixture.app, required: try Version("2"), telephones: ["1383"])
        _ = try fixture.store.apply(
            bump, actor: "tester", source: "test", at: fixture.now, draft: fixture.draft, receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        let campaign = try #require(try fixture.store.openCampaigns().first)
        #expect(campaign.isCanary)
        try fixture.store.administer(
            """
            DROP TRIGGER campaign_event_canary; ALTER TABLE campaign DROP COLUMN canary;
            ALTER TABLE campaign DROP COLUMN canary_ended_at;
            DELETE FROM migration WHERE version >= 14; PRAGMA user_version = 13;
            """)
        fixture.store.close()
        let store = try SQLiteStore(path: fixture.path)
        defer { store.close() }
        let old = try #require(try store.campaign(campaign.key))
        #expect(old.canary == nil && old.audience == ["1383"] && old.state == .running)
        try store.lineUpCanary(old.key, at: fixture.now)
        #expect(try store.campaign(old.key)?.counts.retrying == 0)
        try store.planShards(old.key, shardSize: 100, waves: nil, at: fixture.now)
        #expect(try store.campaign(old.key)?.counts.pending == 10)
        #expect(try store.check { _ in true } == [])
    }
}
