// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@testable import Registry

@Suite("How the ledger keeps an outcome")
struct LedgerRuleTests {
    private typealias Outcome = LedgerRule.Outcome

    private static func recorded(
        _ state: DeliveryState = .retrying, attempts: Int64 = 1, _ again: RequeueReasons = []
    ) -> RecordedOutcome {
        RecordedOutcome(state: state, reason: nil, attempts: attempts, again: Int64(again.rawValue))
    }

    @Test("An uneventful outcome is packed, where the cursor passes its batch and nothing was recorded before")
    func plain() {
        let rule = LedgerRule(ended: nil)
        let (accepted, current) = (
            Outcome(.accepted, attempts: 1),
            Outcome(.filtered, attempts: 0, reason: FilterReason.alreadyCurrent.rawValue)
        )
        #expect(rule.judge(accepted, over: nil, packs: true) == .packed(.accepted))
        #expect(rule.judge(current, over: nil, packs: true) == .packed(.alreadyCurrent))
        #expect(rule.judge(accepted, over: nil, packs: false) == .row(LedgerRule.Row(.accepted)))
        #expect(
            rule.judge(accepted, over: Self.recorded(), packs: true)
                == .row(LedgerRule.Row(.accepted)))
    }

    @Test(
        "An outcome with more to say has a row",
        arguments: [
            Outcome(.accepted, attempts: 2), Outcome(.accepted, attempts: 1, reason: "NotSent"),
            Outcome(.rejected, attempts: 1, reason: "BadDeviceToken"), Outcome(.unregistered, attempts: 1),
            Outcome(.filtered, attempts: 1, reason: FilterReason.noTelephone.rawValue),
            Outcome(.filtered, attempts: 0, reason: "another"), Outcome(.expired, attempts: 0),
        ])
    func eventful(_ outcome: LedgerRule.Outcome) {
        #expect(
            LedgerRule(ended: nil).judge(outcome, over: nil, packs: true)
                == .row(LedgerRule.Row(outcome.state)))
    }

    @Test("A batch is packed where the shard packs, and its cursor passes all of it or nothing comes behind")
    func packing() {
        #expect(LedgerRule.packs(true, cursor: 9, isDone: false, last: 9))
        #expect(!LedgerRule.packs(true, cursor: 8, isDone: false, last: 9))
        #expect(LedgerRule.packs(true, cursor: 8, isDone: true, last: 9))
        #expect(!LedgerRule.packs(true, cursor: 8, isDone: false, last: nil))
        #expect(!LedgerRule.packs(false, cursor: 9, isDone: true, last: 9))
        #expect(!LedgerRule.packs(nil, cursor: 9, isDone: true, last: 9))
    }

    @Test("A retry of a campaign that has expired is not tried again; of one that was ended otherwise it may be")
    func ended() {
        let retry = Outcome(.retrying, attempts: 1, reason: "ConnectionLost", isScheduled: true)
        for (ended, state, isScheduled): (DeliveryState?, DeliveryState, Bool) in [
            (nil, .retrying, true), (.cancelled, .retrying, true), (.expired, .expired, false),
        ] {
            #expect(
                LedgerRule(ended: ended).judge(retry, over: nil, packs: true)
                    == .row(LedgerRule.Row(state, isScheduled: isScheduled)))
        }
    }

    @Test("A reminder that does not come about takes nothing from the push before", arguments: DeliveryState.allCases)
    func reminders(_ state: DeliveryState) {
        let reminded = Self.recorded(.retrying, [.untried, .reminder])
        let outcome = Outcome(state, attempts: 1)
        let isNothing = [.filtered, .expired, .cancelled].contains(state)
        #expect((LedgerRule(ended: nil).judge(outcome, over: reminded, packs: true) == .givenBack) == isNothing)
        #expect(
            (LedgerRule(ended: .cancelled).judge(outcome, over: reminded, packs: true) == .givenBack)
                == (isNothing || state == .retrying))
        #expect(LedgerRule(ended: .cancelled).judge(outcome, over: Self.recorded(), packs: true) != .givenBack)
    }

    @Test("A device in line again is untried until a push has left for it")
    func tried() {
        let before = Self.recorded(.retrying, attempts: 2, [.untried, .reminder])
        let rule = LedgerRule(ended: nil)
        #expect(
            rule.judge(Outcome(.retrying, attempts: 2, isScheduled: true), over: before, packs: false)
                == .row(LedgerRule.Row(.retrying, isScheduled: true, again: [.untried, .reminder])))
        #expect(
            rule.judge(Outcome(.retrying, attempts: 3, isScheduled: true), over: before, packs: false)
                == .row(LedgerRule.Row(.retrying, isScheduled: true, again: .reminder)))
    }

    @Test("A row names another user only once a push has left, that of a reminder only once it is taken")
    func users() {
        let rule = LedgerRule(ended: nil)
        let outcome = Outcome(.retrying, attempts: 2, isScheduled: true)
        for (before, keeps): (RecordedOutcome?, Bool) in [
            (Self.recorded(attempts: 2, [.untried, .reminder]), true),
            (Self.recorded(attempts: 1, [.untried, .reminder]), true), (Self.recorded(attempts: 2, .reminder), true),
            (Self.recorded(attempts: 2, .untried), false), (Self.recorded(attempts: 1), false), (nil, false),
        ] {
            guard case .row(let row) = rule.judge(outcome, over: before, packs: false) else {
                Issue.record("no row")
                continue
            }
            #expect(row.keepsUser == keeps)
        }
    }
}
