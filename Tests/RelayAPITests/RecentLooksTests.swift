// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Testing
import WireFormat

@testable import RelayAPI

@Suite("One look at a campaign for all who watch it")
struct RecentLooksTests {
    private let time = TimeOfTest()
    private let look = CampaignLook(state: .running, inFlight: 3, body: SightedText { writer, _ in writer.integer(1) })

    private final class TimeOfTest: Sendable {
        let now = Mutex<Int64>(0)
    }

    @Test("A thousand watchers ask the store once in each interval")
    func many() throws {
        let looks = RecentLooks<CampaignKey, CampaignLook>(interval: CampaignLook.interval, most: 256) { [time] in
            time.now.withLock { $0 }
        }
        let (one, other) = (CampaignKey(row: 1), CampaignKey(row: 2))
        var asked = 0
        for turn in 0..<3 {
            time.now.withLock { $0 = Int64(turn) * CampaignLook.interval }
            for _ in 0..<1000 {
                let found = try looks.look(at: one) {
                    asked += 1
                    return look
                }
                #expect(found?.body == look.body && found?.inFlight == 3)
            }
            #expect(asked == turn + 1)
        }
        #expect(try looks.look(at: other) { nil } == nil, "each campaign is looked at for itself")
        #expect(try looks.look(at: other) { look } != nil, "that there is none is not remembered")
    }
}
