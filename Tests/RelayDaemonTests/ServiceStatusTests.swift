// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules

@testable import RelayDaemon

@Suite struct ServiceStatusTests {
    private func campaign(_ state: CampaignState, _ reason: String? = nil) throws -> CampaignStatus {
        var counts = CampaignCounts()
        (counts.pending, counts.accepted, counts.cancelled) = (30, 50, 20)
        let time = Timestamp(milliseconds: 0)
        let record = try CampaignRecord.sample(state, counts, reason: reason, at: time)
        return CampaignStatus(record: record, counts: counts, ratePerSecond: 10, secondsLeft: nil)
    }

    private let status = ServiceStatus(phase: .serving, idle: "Idle: 1 app, listening on 127.0.0.1:8480")

    @Test func `Nothing to do is idle`() {
        #expect(status.line(.init()) == "Idle: 1 app, listening on 127.0.0.1:8480")
    }

    @Test func `A suspended campaign is not idle`() throws {
        let activity = ServiceStatus.Activity(held: try campaign(.suspended, "InvalidProviderToken: repair the key"))
        #expect(
            status.line(activity)
                == "Suspended: com.example.app ios 2.0.0: 50 of 100 (50%), InvalidProviderToken: repair the key")
    }

    @Test func `Others that are suspended are told while one is sent`() throws {
        let activity = ServiceStatus.Activity(campaign: try campaign(.running), suspended: 1)
        #expect(
            status.line(activity)
                == "Sending com.example.app ios 2.0.0: 50 of 100 (50%), 10/s; suspended: 1 campaign")
    }
}
