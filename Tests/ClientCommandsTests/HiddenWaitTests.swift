// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

@testable import RelayDaemon

/// Waits that were not shown.
@Suite(.ownThread) struct HiddenWaitTests {
    private static let app = AppKey(app: RealDaemon.app, platform: .ios)
    private static let now = Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))

    /// A requirement that waits for a store, in a relay whose configuration names none.
    private func waiting() throws -> (RealDaemon, VersionRecord) {
        let daemon = try RealDaemon()
        let draft = CampaignDraft(downloadURL: "https://example.com/app", timeToLive: .seconds(3600))
        try daemon.requirements.store.decide(
            Self.app, .asked(VersionBump(app: Self.app, required: try Version("2.0"))),
            by: Signature(by: "ann", via: "api", at: Self.now),
            in: RequirementMachine.Surroundings(now: Self.now, gate: "appStore", draft: draft) { _ in
                GateVerdict(.closed, "in review")
            })
        return (daemon, try #require(try daemon.record(of: Self.app)))
    }

    @Test("A version whose store has left the configuration says so, as its campaign does")
    func lostStore() throws {
        let (daemon, record) = try waiting()
        #expect(daemon.requirements.wait(of: record) == .lostStore)
        #expect(daemon.requirements.status(record).wait == .lostStore)
        let campaign = try #require(try daemon.requirements.store.openCampaigns().first)
        let status = try daemon.requirements.status(campaign)
        #expect(status.wait == .lostStore)
        #expect(status.record.facts.reason == RequirementWait.lostStore.reason)
    }

    @Test("A campaign whose wait cannot be read is an error, and not a campaign that waits for nothing")
    func unreadableStore() throws {
        let (daemon, _) = try waiting()
        let campaign = try #require(try daemon.requirements.store.openCampaigns().first)
        daemon.requirements.store.close()
        #expect(throws: StoreError.self) { try daemon.requirements.status(campaign) }
    }
}
