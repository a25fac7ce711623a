// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import StoreSQL
import Testing
import UpgradeRules

@testable import RelayStoreSQLite
@testable import StoreConformance

/// A page of a campaign's deliveries looks through a bounded number of ids, and the pages together are the whole list.
@Suite("Pages of deliveries")
struct DeliveryPageTests {
    /// Every second device is another app's; of the campaign's own 40 some have rows, some are in batches, some had no turn.
    private static func campaign(waves: WavePlan?) throws -> (StoreFixture, CampaignKey) {
        let fixture = try StoreFixture()
        let subject = Subject(store: fixture.store)
        let other = AppKey(app: "com.example.other", platform: .ios)
        for number in 0..<40 {
            try fixture.store.register(
                [
                    subject.registration(number, telephone: number % 7 == 0 ? nil : "138\(number)"),
                    subject.registration(number, telephone: "139\(number)", app: other),
                ], at: fixture.now)
        }
        let campaign = try subject.announce()
        try fixture.store.planShards(campaign.key, shardSize: 8, waves: waves, at: fixture.now)
        for shard in try subject.open(campaign.key) {
            let batch = try subject.batch(shard, limit: 3) { device in
                device.id % 8 < 4
                    ? LedgerRow(device: device.id, state: .accepted, attempts: 1)
                    : LedgerRow(device: device.id, state: .rejected, attempts: 1, reason: "BadDeviceToken")
            }
            try fixture.store.commitAnew([batch], at: fixture.now)
        }
        return (fixture, campaign.key)
    }

    @Test("whatever the window, the pages together are the list", arguments: [nil, WavePlan(ends: [2000, 10_000])])
    func windows(waves: WavePlan?) throws {
        let (fixture, campaign) = try Self.campaign(waves: waves)
        let filters =
            [DeliveryFilter(), DeliveryFilter(reason: "BadDeviceToken"), DeliveryFilter(reason: "noTelephone")]
            + DeliveryState.allCases.map { DeliveryFilter(state: $0) }
        for filter in filters {
            let whole = try fixture.store.deliveries(of: campaign, filter, after: 0, limit: 1000)
            if filter == DeliveryFilter() { #expect(whole.count == 40) }
            for (window, most, limit) in [(1, 1, 5), (3, 2, 1), (7, 3, 4), (1000, 1, 7)] {
                var (items, next, pages) = ([Delivery](), Int64?.some(0), 0)
                while let after = next {
                    let page = try fixture.store.readOnce("test") { connection in
                        try #require(try DeliveryList(of: campaign, connection))
                            .page(filter, after: after, limit: limit, window: Int64(window), mostWindows: most)
                    }
                    #expect(page.items.count <= limit)
                    if let next = page.next {
                        #expect(next > after)
                        // Ids in between are skipped; the number of ids looked at is bounded.
                        if page.items.isEmpty { #expect(next - after <= Int64(window * most) + 80) }
                    }
                    items += page.items
                    (next, pages) = (page.next, pages + 1)
                    try #require(pages < 200)
                }
                #expect(items == whole, "\(filter), \(window), \(most), \(limit)")
            }
        }
    }

    /// SQLite gives the number of a row that another program deleted to the next device (sqlite.org/autoinc.html).
    @Test("a device's number that another app's device has now is in no list of the campaign")
    func reusedNumbers() throws {
        let (fixture, campaign) = try Self.campaign(waves: nil)
        let all = DeliveryFilter()
        let before = try fixture.store.deliveries(of: campaign, all, after: 0, limit: 1000)
        let rejected = try #require(before.first { $0.state == .rejected })
        let accepted = try #require(before.first { $0.state == .accepted })
        let gone = "\(rejected.device), \(accepted.device)"
        try fixture.store.administer(
            """
            PRAGMA foreign_keys = OFF;
            UPDATE device SET token = token || 'ff', app_id = (SELECT id FROM app WHERE name = 'com.example.other')
                WHERE id IN (\(gone));
            PRAGMA foreign_keys = ON
            """)
        let after = try fixture.store.deliveries(of: campaign, all, after: 0, limit: 1000)
        #expect(after == before.filter { $0.device != rejected.device && $0.device != accepted.device })
        for state in [DeliveryState.rejected, .accepted] {
            let listed = try fixture.store.deliveries(of: campaign, DeliveryFilter(state: state), after: 0, limit: 1000)
            #expect(listed == after.filter { $0.state == state })
        }
    }
}
