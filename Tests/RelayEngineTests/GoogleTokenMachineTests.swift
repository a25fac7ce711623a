// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct GoogleTokenMachineTests {
    private let start = Timestamp(seconds: 1_800_000_000)

    private func after(_ seconds: Int) -> Timestamp { start + .seconds(seconds) }

    @Test func oneAsksAndTheOthersWaitOrUseWhatThereIs() {
        var machine = GoogleTokenMachine()
        #expect(machine.tokenNeeded(at: start) == .ask(meanwhile: nil))
        #expect(machine.tokenNeeded(at: after(1)) == .waitForAnswer)
        let token = machine.granted("a", lifetime: .seconds(3599), at: after(2))
        // The lifetime counts from the question: the answer was some time on its way.
        #expect(token.endsAt == after(3599))
        #expect(machine.tokenNeeded(at: after(3298)) == .use(token))
        #expect(machine.tokenNeeded(at: after(3299)) == .ask(meanwhile: token))
        #expect(machine.tokenNeeded(at: after(3299)) == .use(token), "one question at a time")
        #expect(machine.tokenNeeded(at: after(3599)) == .waitForAnswer, "it has ended")
        let second = machine.granted("b", lifetime: .seconds(3599), at: after(3600))
        #expect(machine.tokenNeeded(at: after(3600)) == .use(second))
    }

    @Test func aShortTokenIsRenewedAtHalfItsLife() {
        var machine = GoogleTokenMachine()
        _ = machine.tokenNeeded(at: start)
        let token = machine.granted("a", lifetime: .seconds(60), at: start)
        #expect(machine.tokenNeeded(at: after(29)) == .use(token))
        #expect(machine.tokenNeeded(at: after(30)) == .ask(meanwhile: token))
    }

    @Test func aFailureIsNotFollowedByAnotherQuestionAtOnce() {
        var machine = GoogleTokenMachine()
        var now = start
        for pause in [10, 20, 40, 80, 160, 300, 300] {
            #expect(machine.tokenNeeded(at: now) == .ask(meanwhile: nil))
            machine.failed(retryAfter: nil, at: now)
            #expect(machine.tokenNeeded(at: now) == .wait(until: now + .seconds(pause)))
            now = now + .seconds(pause)
        }
        #expect(machine.tokenNeeded(at: now) == .ask(meanwhile: nil))
        machine.failed(retryAfter: .seconds(900), at: now)
        #expect(machine.tokenNeeded(at: now) == .wait(until: now + .seconds(900)))
        now = now + .seconds(900)
        #expect(machine.tokenNeeded(at: now) == .ask(meanwhile: nil))
        machine.refused(at: now)
        #expect(machine.tokenNeeded(at: now) == .wait(until: now + .seconds(60)))
        // A clock that is set back by a day.
        #expect(machine.tokenNeeded(at: now - .seconds(86_400)) == .ask(meanwhile: nil))
    }

    @Test func aTokenServesOnWhereItsRenewalFails() {
        var machine = GoogleTokenMachine()
        _ = machine.tokenNeeded(at: start)
        let token = machine.granted("a", lifetime: .seconds(3600), at: start)
        #expect(machine.tokenNeeded(at: after(3300)) == .ask(meanwhile: token))
        machine.failed(retryAfter: nil, at: after(3300))
        #expect(machine.tokenNeeded(at: after(3305)) == .use(token))
        #expect(machine.tokenNeeded(at: after(3310)) == .ask(meanwhile: token))
        machine.failed(retryAfter: .seconds(1000), at: after(3310))
        #expect(machine.tokenNeeded(at: after(3600)) == .wait(until: after(4310)))
    }

    @Test func aTokenThatTheServiceRejectsIsGone() {
        var machine = GoogleTokenMachine()
        _ = machine.tokenNeeded(at: start)
        let token = machine.granted("a", lifetime: .seconds(3600), at: start)
        machine.rejected("other")
        #expect(machine.tokenNeeded(at: start) == .use(token))
        machine.rejected("a")
        #expect(machine.tokenNeeded(at: start) == .ask(meanwhile: nil))
    }

    @Test func aTokenFromTheFutureIsExchanged() {
        var machine = GoogleTokenMachine()
        _ = machine.tokenNeeded(at: start)
        let token = machine.granted("a", lifetime: .seconds(3600), at: start)
        #expect(machine.tokenNeeded(at: after(-60)) == .use(token))
        #expect(machine.tokenNeeded(at: after(-61)) == .ask(meanwhile: nil))
    }

    // MARK: 401

    @Test func aTokenThatIsNotTakenIsRenewedOnce() {
        var machine = GoogleTokenMachine()
        _ = machine.tokenNeeded(at: start)
        _ = machine.granted("a", lifetime: .seconds(3599), at: start)
        #expect(machine.rejected("other", at: after(10)) == .alreadyRenewed)
        #expect(machine.rejected("a", at: after(10)) == .renew)
        #expect(machine.rejected("a", at: after(10)) == .alreadyRenewed, "of the same batch")
        #expect(machine.tokenNeeded(at: after(10)) == .ask(meanwhile: nil))
        _ = machine.granted("b", lifetime: .seconds(3599), at: after(11))
        #expect(machine.rejected("b", at: after(12)) == .futile)
        // The operator has repaired it, and it has worked for a while.
        _ = machine.tokenNeeded(at: after(60))
        _ = machine.granted("c", lifetime: .seconds(3599), at: after(60))
        #expect(machine.rejected("c", at: after(1_000)) == .renew)
    }

    @Test func whatWasRefusedIsAskedAnewWhereItMayHaveBeenRepaired() {
        var machine = GoogleTokenMachine()
        _ = machine.tokenNeeded(at: start)
        #expect(machine.isAsking)
        machine.refused(at: start)
        #expect(!machine.isAsking)
        #expect(machine.tokenNeeded(at: after(1)) == .wait(until: after(60)))
        machine.forgetRefusal()
        #expect(machine.tokenNeeded(at: after(1)) == .ask(meanwhile: nil))
        // A service in trouble is not asked more often because of that.
        machine.failed(retryAfter: nil, at: after(1))
        machine.forgetRefusal()
        #expect(machine.tokenNeeded(at: after(2)) == .wait(until: after(11)))
    }
}
