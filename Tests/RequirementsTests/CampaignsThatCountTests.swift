// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@testable import Requirements

@Suite struct CampaignsThatCountTests {
    /// Campaigns of one app, the newest first, and those that are shown.
    @Test(
        arguments: [
            ([], []), ([.completed, .superseded], [.completed]), ([.running, .completed], [.running]),
            ([.superseded, .completed], [.completed]), ([.superseded, .superseded], [.superseded]),
            ([.waiting, .completed, .superseded], [.waiting, .completed]), ([.waiting, .superseded], [.waiting]),
            ([.waiting, .running], [.waiting, .running]), ([.waiting, .paused, .completed], [.waiting, .paused]),
            ([.superseded, .cancelled], [.cancelled]),
        ] as [([CampaignState], [CampaignState])])
    func shown(campaigns: [CampaignState], expected: [CampaignState]) {
        #expect(CampaignsThatCount.of(campaigns) { $0 } == expected)
    }
}
