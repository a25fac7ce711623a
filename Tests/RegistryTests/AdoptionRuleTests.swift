// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@testable import Registry

@Suite("Which devices a campaign counts as upgraded")
struct AdoptionRuleTests {
    private typealias Entry = AdoptionRule.Entry
    private typealias Verdict = AdoptionRule.Verdict

    @Test("A row counts once, and not where the device was current", arguments: DeliveryState.allCases)
    func rows(_ state: DeliveryState) {
        #expect(
            AdoptionRule.judge(Entry(state: state, wasCurrent: false, isMarked: false), nil)
                == Verdict(mark: .row, isPushed: state == .accepted, isNotified: false))
        #expect(AdoptionRule.judge(Entry(state: state, wasCurrent: true, isMarked: false), .given) == nil)
        #expect(AdoptionRule.judge(Entry(state: state, wasCurrent: false, isMarked: true), .given) == nil)
    }

    @Test("A place in a packed batch is marked beside it", arguments: PlainOutcome.allCases)
    func packed(_ outcome: PlainOutcome) {
        let verdict = Verdict(mark: .besideBatch, isPushed: outcome == .accepted, isNotified: true)
        #expect(AdoptionRule.judge(Entry(outcome), .given) == (outcome == .alreadyCurrent ? nil : verdict))
    }

    @Test("A device without an entry counts by its notice at login alone, and then before its campaign came to it")
    func early() {
        #expect(AdoptionRule.judge(nil, nil) == nil)
        #expect(AdoptionRule.judge(nil, .given) == Verdict(mark: .notice, isPushed: false, isNotified: true))
        #expect(AdoptionRule.judge(nil, .given)?.isEarly == true)
    }

    @Test("A device that counted by its notice does not count again, whatever came to its entry since")
    func counted() {
        #expect(AdoptionRule.isSettled(by: .counted))
        #expect(!AdoptionRule.isSettled(by: .given) && !AdoptionRule.isSettled(by: nil))
        for entry in [nil, Entry(.accepted), Entry(state: .accepted, wasCurrent: false, isMarked: false)] {
            #expect(AdoptionRule.judge(entry, .counted) == nil)
        }
    }
}
