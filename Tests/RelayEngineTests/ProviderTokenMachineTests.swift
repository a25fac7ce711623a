// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@Suite struct ProviderTokenMachineTests {
    private let issued = Timestamp(seconds: 1_000_000)

    @Test func theFirstTokenIsSigned() {
        #expect(ProviderTokenMachine().tokenNeeded(at: issued) == .sign)
    }

    @Test(arguments: [
        (minutes: 0, action: ProviderTokenMachine.Action.use), (49, .use), (50, .sign), (600, .sign), (-2, .sign),
    ])
    func aTokenIsUsedForFiftyMinutes(minutes: Int, action: ProviderTokenMachine.Action) {
        let machine = ProviderTokenMachine(issuedAt: issued)
        #expect(machine.tokenNeeded(at: issued + .seconds(minutes * 60)) == action)
    }

    @Test(arguments: [(minutes: 19, refusal: ProviderTokenMachine.Refusal.clockSkew), (20, .sign), (70, .sign)])
    func anExpiredTokenIsReplacedOnceAppleAllowsIt(minutes: Int, refusal: ProviderTokenMachine.Refusal) {
        let machine = ProviderTokenMachine(issuedAt: issued)
        #expect(machine.refused(tokenIssuedAt: issued, at: issued + .seconds(minutes * 60)) == refusal)
    }

    @Test func onlyTheCurrentTokenIsReplaced() {
        var machine = ProviderTokenMachine(issuedAt: issued)
        machine.signed(at: issued + .seconds(3000))
        #expect(machine.refused(tokenIssuedAt: issued, at: issued + .seconds(3001)) == .alreadyRenewed)
    }

    @Test func nothingIsSignedInAPause() {
        let end = issued + .seconds(4_000)
        var machine = ProviderTokenMachine(issuedAt: issued)
        let news = [machine.paused(until: end), machine.paused(until: end - .seconds(1))]
        #expect(news == [true, false], "a shorter one changes nothing")
        for seconds in [2_500, 3_000, 3_999] as [Int64] {
            #expect(machine.tokenNeeded(at: issued + .seconds(seconds)) == .use)
            #expect(machine.refused(tokenIssuedAt: issued, at: issued + .seconds(seconds)) == .paused(until: end))
        }
        #expect(machine.pause(at: end - .milliseconds(1)) == end && machine.pause(at: end) == nil)
        #expect(machine.tokenNeeded(at: end) == .sign)
        #expect(machine.refused(tokenIssuedAt: issued, at: end) == .sign)
        // A process that begins in the pause of an earlier one, whose token it cannot use.
        let restarted = ProviderTokenMachine(pausedUntil: end)
        #expect(restarted.tokenNeeded(at: issued + .seconds(3_000)) == .wait(until: end))
        #expect(restarted.tokenNeeded(at: end) == .sign)
    }

    @Test(arguments: [(seconds: -1, action: ProviderTokenMachine.Action.use), (-60, .use), (-61, .sign)])
    func aClockThatIsSetBackALittleCostsNoToken(seconds: Int, action: ProviderTokenMachine.Action) {
        let machine = ProviderTokenMachine(issuedAt: issued)
        #expect(machine.tokenNeeded(at: issued + .seconds(seconds)) == action)
    }
}
