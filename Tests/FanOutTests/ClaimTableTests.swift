// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing

@testable import FanOut

/// A campaign that no relay sends is claimed by the relay that sends least.
@Suite struct ClaimTableTests {
    private let start = MonotonicTime(nanoseconds: 0)
    private let campaigns = (1...3).map { CampaignKey(row: Int64($0)) }

    @Test func `A relay that sends more waits longer`() {
        var idle = ClaimTable()
        var busy = ClaimTable()
        #expect(idle.opening(of: campaigns[0], besides: 0, at: start) == start)
        #expect(busy.opening(of: campaigns[0], besides: 3, at: start) == start + .milliseconds(60))
    }

    @Test func `A wait does not begin anew with each look`() {
        var claims = ClaimTable()
        let opening = claims.opening(of: campaigns[0], besides: 2, at: start)
        claims.looked(campaigns, of: [])
        #expect(claims.opening(of: campaigns[0], besides: 5, at: start + .milliseconds(30)) == opening)
    }

    @Test func `A wait is forgotten with its campaign, and where another relay sends it`() {
        var claims = ClaimTable()
        for campaign in campaigns { _ = claims.opening(of: campaign, besides: 1, at: start) }
        claims.looked([campaigns[0], campaigns[1]], of: [campaigns[1]])
        let later = start + .seconds(10)
        #expect(claims.opening(of: campaigns[0], besides: 0, at: later) == start + .milliseconds(20))
        #expect(claims.opening(of: campaigns[1], besides: 0, at: later) == later)
        #expect(claims.opening(of: campaigns[2], besides: 0, at: later) == later)
    }

    @Test func `A campaign that was missed is tried again after the interval of the fleet`() {
        var claims = ClaimTable()
        claims.missed(campaigns[0], at: start)
        #expect(claims.opening(of: campaigns[0], besides: 0, at: start) == start + ClaimTable.fleetInterval)
        claims.forget()
        #expect(claims.opening(of: campaigns[0], besides: 0, at: start) == start)
    }

    @Test func `Running are those of this look: claimed, or seen to run`() {
        var claims = ClaimTable()
        claims.claimed(campaigns[0])
        claims.looked(campaigns, of: [])
        #expect(claims.running.isEmpty)
        claims.runs(campaigns[1])
        claims.claimed(campaigns[2])
        #expect(claims.running == [campaigns[1], campaigns[2]])
    }
}
