// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import RelayStoreSQLite
import Requirements
import StoreConformance
import StoreSQL
import Testing
import UpgradeRules

@Suite("Dead tokens that a person accepted, in older stores") struct DeadTokensMigrationTests {
    @Test("Who was resumed is not suspended for them again; who still is, may be", arguments: [true, false])
    func resumed(isResumed: Bool) throws {
        let fixture = try StoreFixture()
        try fixture.registerDevices(0..<10)
        let bump = VersionBump(app: fixture.app, required: try Version("2"))
        _ = try fixture.store.apply(
            bump, actor: "tester", source: "test", at: fixture.now, draft: fixture.draft, receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        let campaign = try #require(try fixture.store.openCampaigns().first)
        let relay = Signature.relay(at: fixture.now)
        let reason = "20 of the last 20 tokens are no longer registered; none was given up"
        try fixture.store.decide(campaign, .suspended(.deadTokens, reason), by: relay)
        if isResumed { try fixture.store.decide(campaign, .resumed, by: relay) }
        #expect(try fixture.store.campaign(campaign.key)?.facts.acceptsDeadTokens == isResumed)
        try fixture.undoRuns()
        try fixture.administerOld(
            """
            DROP TABLE token_doubt;
            ALTER TABLE provider_token DROP COLUMN paused_by;
            ALTER TABLE campaign DROP COLUMN accepts_dead;
            CREATE INDEX campaign_event_suspended ON campaign_event (campaign_id) WHERE state = 'suspended';
            DELETE FROM migration WHERE version >= 18; PRAGMA user_version = 17;
            """)
        let store = try SQLiteStore(path: fixture.path)
        defer { store.close() }
        let old = try #require(try store.campaign(campaign.key))
        #expect(old.facts.acceptsDeadTokens == isResumed)
        #expect(old.state == (isResumed ? .running : .suspended))
        for channel in [Channel.production, .sandbox] {
            let doubts = try store.tokenDoubts(of: fixture.app, channel: channel)
            #expect(doubts == (isResumed ? [] : [TokenDoubt(channel, .dead, JudgedAnswers(isSuspect: true))]))
        }
        #expect(try store.check { _ in true } == [])
    }
}
