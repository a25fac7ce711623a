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

    @Test(arguments: [(seconds: -1, action: ProviderTokenMachine.Action.use), (-60, .use), (-61, .sign)])
    func aClockThatIsSetBackALittleCostsNoToken(seconds: Int, action: ProviderTokenMachine.Action) {
        let machine = ProviderTokenMachine(issuedAt: issued)
        #expect(machine.tokenNeeded(at: issued + .seconds(seconds)) == action)
    }
}
