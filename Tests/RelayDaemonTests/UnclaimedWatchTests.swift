// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import Telemetry
import TestPeers
import TestStores
import Testing
import UpgradeRules

@testable import RelayDaemon

/// Campaigns that run but that no relay sends.
@Suite(.ownThread) struct UnclaimedWatchTests {
    private static func at(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func `What nobody sends for ten seconds is late, and new once`() {
        var watch = UnclaimedWatch()
        let app = AppKey(app: "a", platform: .ios)
        let (a, b) = (UnclaimedCampaign(id: "a", app: app), UnclaimedCampaign(id: "b", app: app))
        #expect(watch.look([a], at: Self.at(0)) == [])
        #expect(watch.look([a, b], at: Self.at(9)) == [])
        #expect(watch.look([a, b], at: Self.at(10)) == [a])
        #expect(watch.look([a, b], at: Self.at(11)) == [] && watch.late == [a])
        // It was sent in between.
        #expect(watch.look([b], at: Self.at(12)) == [] && watch.late == [])
        #expect(watch.look([a, b], at: Self.at(19)) == [b])
        watch.forget()
        #expect(watch.late == [])
        #expect(watch.look([a, b], at: Self.at(20)) == [])
    }

    @Test func `The leader names them, in one line of the log and for readyz, until somebody sends them`() throws {
        let store = try openStore("\(try TestFolder.make())/relay.db")
        let lines = Mutex<[String]>([])
        let now = Mutex(Self.at(1))
        let keeper = NodeKeeper(
            store: store, description: NodeDescription(name: "a", release: "1"),
            log: Log(minimum: .warning) { _, message, _ in lines.withLock { $0.append("\(message)") } },
            boot: { now.withLock { $0 } }, wall: { Timestamp(seconds: 1_800_000_000) })
        try keeper.join()
        let version = try Version("2.0")
        let draft = CampaignDraft(downloadURL: "https://example.com/app", timeToLive: .seconds(3600))
        _ = try store.apply(
            VersionBump(app: AppKey(app: "a", platform: .ios), required: version), actor: "a", source: "b",
            at: Timestamp(seconds: 1_800_000_000), draft: draft, receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        let campaign = try #require(try store.openCampaigns().first)
        func pass(_ seconds: Int64) {
            for _ in 0..<seconds {
                now.withLock { $0 = $0 + .seconds(1) }
                _ = keeper.turn()
            }
        }
        pass(9)
        #expect(keeper.claimFault == nil && store.membership.leads)
        pass(4)
        #expect(keeper.claimFault?.contains("\(campaign.id) of a (ios)") == true)
        let said = lines.withLock { $0.filter { $0 == "a campaign runs and no relay sends it" } }
        #expect(said.count == 1)
        let lease = try #require(try store.claimRun(campaign.key))
        pass(1)
        #expect(keeper.claimFault == nil)
        // A relay that does not lead leaves it to the leader.
        try store.releaseRun(lease)
        pass(12)
        #expect(keeper.claimFault != nil)
        let other = try store.join(NodeDescription(name: "b", release: "1"), for: .seconds(60)).0
        try store.administer("UPDATE leader SET node = \(other.node)")
        pass(1)
        #expect(keeper.claimFault == nil && !store.membership.leads)
        #expect(keeper.fencings == 0)
    }
}
