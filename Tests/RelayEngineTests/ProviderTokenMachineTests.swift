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

    // MARK: One token for all relays that have the key

    @Test(
        "What is found is used where it is newer, or where the own one is from the future",
        arguments: [
            (own: Int?.none, found: 0, isTaken: true), (0, 1, true), (0, 0, false), (1, 0, false), (61, 60, false),
            (62, 0, true),
        ])
    func found(own: Int?, found: Int, isTaken: Bool) {
        let machine = ProviderTokenMachine(issuedAt: own.map { issued + .seconds($0) })
        #expect(machine.takesUp(issuedAt: issued + .seconds(found), at: issued + .seconds(1)) == isTaken)
    }

    @Test(arguments: [
        (seconds: 0, isReplaced: false), (1_199, false), (1_200, true), (3_000, true), (-60, false), (-61, true),
    ])
    func aSharedTokenIsReplacedAfterTwentyMinutes(seconds: Int, isReplaced: Bool) {
        let kept = ProviderToken(text: "a.b.c", issuedAt: issued)
        let now = issued + .seconds(seconds)
        let next = ProviderToken(text: "d.e.f", issuedAt: now)
        func winsOver(_ known: Timestamp?) -> Bool {
            ProviderTokenMachine.mayReplace(kept, by: next, replacing: known, at: now)
        }
        #expect(winsOver(issued) == isReplaced)
        #expect(!winsOver(nil) && !winsOver(issued - .seconds(3_000)), "another relay was faster")
    }

    @Test func aSharedTokenIsNotReplacedInAPause() {
        let now = issued + .seconds(3_000)
        let next = ProviderToken(text: "d.e.f", issuedAt: now)
        for (seconds, isReplaced) in [(-1, true), (0, true), (1, false), (1_500, false), (1_501, true)]
            as [(Int64, Bool)]
        {
            let kept = ProviderToken(text: "a.b.c", issuedAt: issued, pausedUntil: now + .seconds(seconds))
            #expect(
                ProviderTokenMachine.mayReplace(kept, by: next, replacing: issued, at: now) == isReplaced,
                "\(seconds): no server wants half an hour, so a clock was ahead")
        }
    }

    @Test func aPauseThatGoesOnIsNeverShortened() {
        var token = ProviderToken(text: "a.b.c", issuedAt: issued)
        func pause(_ seconds: Int64, _ server: String?, at now: Int64 = 0) -> [String?] {
            let isNew = token.pause(until: issued + .seconds(seconds), by: server, at: issued + .seconds(now))
            let left = token.pausedUntil.map { "\(($0 - issued).milliseconds / 1_000)" }
            return [isNew ? "new" : nil, left, token.pausedBy]
        }
        #expect(pause(300, "a") == ["new", "300", "a"])
        #expect(pause(200, "a") == [nil, "300", "a"])
        #expect(pause(400, "a") == ["new", "400", "a"])
        #expect(pause(200, "b") == ["new", "400", nil], "a second server: it is the key's")
        #expect(pause(500, "a") == ["new", "500", nil])
        #expect(pause(600, "b", at: 500) == ["new", "600", "b"], "the last one is over")
        #expect(token.text == "a.b.c" && token.issuedAt == issued)
    }
}
