// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import RelayStoreSQLite
import Requirements
import StoreConformance
import StoreSQL
import Testing
import UpgradeRules

@Suite("Campaigns for named users of older releases") struct CanaryMigrationTests {
    @Test("One that is open goes to them alone, and a person may release it")
    func open() throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<10)
        let bump = VersionBump(app: fixture.app, required: try Version("2"), telephones: ["1383"])
        _ = try fixture.store.apply(
            bump, actor: "tester", source: "test", at: fixture.now, draft: fixture.draft, receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        let campaign = try #require(try fixture.store.openCampaigns().first)
        #expect(campaign.isCanary)
        try fixture.age()
        try fixture.administerOld(
            """
            DROP TRIGGER campaign_event_canary; ALTER TABLE campaign DROP COLUMN canary;
            ALTER TABLE campaign DROP COLUMN canary_ended_at;
            DELETE FROM migration WHERE version >= 14; PRAGMA user_version = 13;
            """)
        let store = try SQLiteStore(path: fixture.path)
        defer { store.close() }
        let old = try #require(try store.campaign(campaign.key))
        #expect(old.canary?.phase == .alone && old.audience == ["1383"] && old.state == .running)
        try store.lineUpCanary(old.key, at: fixture.now)
        #expect(try store.campaign(old.key)?.figures.counts.retrying == 1)
        // A person may release it now, like any canary.
        try store.decide(
            fixture.app, .released(nil), by: Signature(by: "ann", via: "release", at: fixture.now),
            in: RequirementMachine.Surroundings(now: fixture.now))
        #expect(try store.campaign(old.key)?.audience == nil)
        #expect(try store.version(of: fixture.app)?.inForce.required?.text == "2")
        #expect(try store.check { _ in true } == [])
    }
}
