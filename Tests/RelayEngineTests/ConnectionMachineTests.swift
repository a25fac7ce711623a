// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelayEngine

/// Each test reads as the life of one connection; times are milliseconds since it was opened.
struct ConnectionMachineTests {
    private func machine(_ change: (inout ConnectionMachine.Settings) -> Void = { _ in }) -> ConnectionMachine {
        var settings = ConnectionMachine.Settings()
        settings.maximumStreams = 100
        change(&settings)
        return ConnectionMachine(settings: settings, at: at(0))
    }

    private func at(_ milliseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    private func proven(_ change: (inout ConnectionMachine.Settings) -> Void = { _ in }) -> ConnectionMachine {
        var connection = machine(change)
        connection.settingsReceived(maximumStreams: 1000, at: at(0))
        connection.requestsOpened(at: at(1))
        _ = connection.heard(bytes: 1, at: at(2))
        connection.requestEnded(.answered(isSuccess: true))
        return connection
    }

    // MARK: Width

    @Test func oneStreamUntilAGoodAnswer() {
        var connection = machine()
        #expect(connection.room == 1)
        connection.settingsReceived(maximumStreams: 1000, at: at(0))
        #expect(connection.room == 1, "SETTINGS alone prove nothing")
        connection.requestsOpened(at: at(1))
        #expect(connection.room == 0)
        connection.requestEnded(.answered(isSuccess: false))
        #expect(connection.room == 1 && !connection.isProven, "nor does a bad answer")
        connection.requestsOpened(at: at(2))
        connection.requestEnded(.answered(isSuccess: true))
        #expect(connection.phase == .open && connection.isProven)
        #expect(connection.room == 100, "our own limit is the lower one")
    }

    @Test func aFewFreeStreamsWaitUntilTheyAreAHandful() {
        var connection = machine()
        #expect(connection.worthwhileRoom == 1, "the first is not one of a few")
        connection = proven()
        #expect(connection.worthwhileRoom == 100)
        connection.requestsOpened(95, at: at(3))
        #expect(connection.worthwhileRoom == 5 && !connection.isFull(at: at(600)))
        connection.requestsOpened(1, at: at(3))
        #expect(connection.room == 4 && connection.worthwhileRoom == 0)
        #expect(connection.isFull(at: at(600)), "another connection would add something")
        connection.requestEnded(.answered(isSuccess: true))
        #expect(connection.worthwhileRoom == 5)
        connection.settingsReceived(maximumStreams: 96, at: at(4))
        #expect(connection.room == 1 && connection.worthwhileRoom == 0)
        connection.settingsReceived(maximumStreams: 19, at: at(5))
        while connection.inFlight > 18 { connection.requestEnded(.answered(isSuccess: true)) }
        #expect(connection.worthwhileRoom == 1, "of few streams each counts")
    }

    @Test func aConnectionBeginsWithWhatTheOneBeforeTook() {
        var connection = proven { $0.expectedRequests = 10 }
        #expect(connection.room == 9 && connection.worthwhileRoom == 9, "one has been answered")
        connection.requestsOpened(9, at: at(3))
        #expect(connection.room == 0 && connection.worthwhileRoom == 0)
        #expect(!connection.isFull(at: at(600)), "another connection is not what is missing")
        for _ in 0..<8 { connection.requestEnded(.answered(isSuccess: true)) }
        #expect(connection.room == 0, "the last may bring the end")
        connection.requestEnded(.answered(isSuccess: false))
        #expect(connection.room == 1, "it goes on: an eighth more")
        for more in [1, 2, 4, 8] {
            #expect(connection.room == more)
            connection.requestsOpened(more, at: at(4))
            #expect(connection.room == 0 && connection.isUsable)
            for _ in 0..<more { connection.requestEnded(.answered(isSuccess: true)) }
        }
        // A request that comes back was not taken: nothing waits for it for ever.
        connection.requestsOpened(16, at: at(5))
        for _ in 0..<15 { connection.requestEnded(.answered(isSuccess: true)) }
        connection.requestEnded(.unsent)
        #expect(connection.room == 1 && !connection.hasOutlived)
        connection.requestsOpened(1, at: at(6))
        connection.requestEnded(.answered(isSuccess: true))
        for more in [32, 64] {
            connection.requestsOpened(more, at: at(4))
            for _ in 0..<more { connection.requestEnded(.answered(isSuccess: true)) }
        }
        #expect(connection.room == 100 && connection.hasOutlived, "as if nothing had ever been expected of it")
    }

    @Test func aCarefulConnectionEndsBeforeItIsCut() {
        var connection = proven {
            $0.expectedRequests = 10
            $0.goesBeyond = false
        }
        connection.requestsOpened(9, at: at(3))
        for _ in 0..<9 {
            #expect(connection.isUsable)
            connection.requestEnded(.answered(isSuccess: true))
        }
        #expect(connection.phase == .retired(.spent) && connection.isDone)
    }

    /// The cost of a server that ends each connection after so many requests, once their number is known.
    @Test(arguments: [10, 50, 200, 2000])
    func aServerThatCutsCostsAFewAtTheEnd(limit: Int) {
        var expected: Int?
        for number in 0..<8 {
            var connection = machine {
                $0.maximumStreams = 1000
                $0.expectedRequests = expected
            }
            var seen = 0
            // All requests that there is room for go out together, and the server has all of them before it answers any. The
            // last one that it answers leaves those that came with it without an answer.
            while connection.inFlight == 0 {
                let count = connection.room
                connection.requestsOpened(count, at: at(1))
                seen += count
                guard seen < limit else { break }
                for _ in 0..<count { connection.requestEnded(.answered(isSuccess: true)) }
            }
            connection.retire(.died)
            while connection.inFlight > 0 { connection.requestEnded(.cut) }
            let record = connection.record
            #expect(record.answered + record.cutOff == record.taken && record.lost == record.cutOff)
            expected = max(1, record.answered)
            if number > 4 {
                #expect(record.answered >= limit * 3 / 4, "connection \(number): \(record)")
                #expect(record.cutOff <= max(1, limit / 4), "connection \(number): \(record)")
            }
        }
    }

    // MARK: The record

    @Test func anOrderlyGoAwayLosesNothing() {
        var connection = proven()
        connection.requestsOpened(20, at: at(3))
        connection.retire(.goAway(isCalm: false))
        for _ in 0..<15 { connection.requestEnded(.refused) }
        for _ in 0..<5 { connection.requestEnded(.answered(isSuccess: true)) }
        #expect(connection.record == .init(delivered: 6, answered: 6, taken: 6, givenBack: 15, width: 100))
        #expect(connection.isDone)
    }

    @Test func whatADeadConnectionTakesAlongIsLost() {
        var connection = proven()
        connection.requestsOpened(20, at: at(3))
        connection.retire(.died)
        for _ in 0..<20 { connection.requestEnded(.cut) }
        #expect(connection.record == .init(delivered: 1, answered: 1, lost: 20, cutOff: 20, taken: 21, width: 100))
    }

    @Test(arguments: [
        (ConnectionMachine.StreamEnd.reset, 1), (.timedOut, 1), (.cut, 1), (.refused, 0),
        (.answered(isSuccess: false), 0),
        (.answered(isSuccess: true), 0), (.unsent, 0),
    ])
    func whatIsNotAnsweredIsLost(end: ConnectionMachine.StreamEnd, lost: Int) {
        var connection = proven()
        connection.requestsOpened(at: at(3))
        connection.requestEnded(end)
        #expect(connection.record.lost == lost)
    }

    @Test func anAnswerThatWantsAnotherConnectionIsNoDelivery() {
        var connection = proven()
        connection.requestsOpened(at: at(3))
        connection.requestEnded(.answered(isSuccess: false))
        connection.retire(.judged)
        #expect(connection.record == .init(delivered: 1, answered: 2, lost: 1, taken: 2, width: 100))
    }

    @Test func refusalsBelowALoweredLimitAreNoLoss() {
        var connection = proven()
        connection.requestsOpened(2, at: at(3))
        connection.settingsReceived(maximumStreams: 1, at: at(4))
        connection.requestEnded(.refused)
        #expect(connection.record == .init(delivered: 1, answered: 1, taken: 2))
    }

    @Test func theServersLimitIsObeyedUpAndDown() {
        var connection = proven()
        connection.settingsReceived(maximumStreams: 10, at: at(0))
        #expect(connection.room == 10)
        for _ in 0..<10 { connection.requestsOpened(at: at(3)) }
        connection.settingsReceived(maximumStreams: 1, at: at(0))
        #expect(connection.room == 0)
        for _ in 0..<9 { connection.requestEnded(.answered(isSuccess: true)) }
        #expect(connection.room == 0, "one is still open")
        connection.requestEnded(.answered(isSuccess: true))
        #expect(connection.room == 1)
        connection.settingsReceived(maximumStreams: nil, at: at(0))
        #expect(connection.room == 100)
    }

    @Test func aServerThatAllowsNothingGetsNothing() {
        var connection = machine()
        connection.settingsReceived(maximumStreams: 0, at: at(0))
        #expect(connection.room == 0 && connection.isUsable)
    }

    @Test func aServerThatAllowsNothingForLongIsLeft() {
        var connection = proven()
        connection.requestsOpened(at: at(10))
        connection.settingsReceived(maximumStreams: 0, at: at(20))
        #expect(!connection.isFull(at: at(20_000)), "who wants a rest does not want more connections")
        #expect(connection.tick(at: at(9_000)) == .nothing)
        connection.requestEnded(.answered(isSuccess: true))
        connection.settingsReceived(maximumStreams: 0, at: at(20_000))
        #expect(connection.tick(at: at(30_019)) == .nothing, "said again, but since the first time")
        #expect(connection.tick(at: at(30_020)) == .giveUp("the server has allowed no streams for 30.0 seconds"))
        connection.settingsReceived(maximumStreams: 5, at: at(30_021))
        #expect(connection.tick(at: at(30_022)) == .nothing)
        connection.settingsReceived(maximumStreams: 0, at: at(40_000))
        #expect(connection.tick(at: at(69_999)) == .nothing)
    }

    // MARK: Floods

    @Test func bytesWithoutAnAnswerAreAFlood() {
        var connection = proven()
        connection.requestsOpened(at: at(10))
        let limit = ConnectionMachine.floodLimit
        #expect(connection.heard(bytes: limit, at: at(10)) == true)
        #expect(connection.heard(bytes: 1, at: at(10)) == false)
        connection.requestEnded(.answered(isSuccess: false))
        #expect(connection.heard(bytes: limit, at: at(10)) == true, "an answer among them makes up for it")
    }

    @Test func whatTricklesInIsNoFlood() {
        var connection = proven()
        // A server's PING each 100 ms for a week of idleness.
        for number in 1..<(7 * 86_400 * 10 as UInt64) {
            guard connection.heard(bytes: 17, at: at(number * 100)) else {
                Issue.record("after \(number) PINGs")
                return
            }
        }
    }

    @Test func fullMeansProvenSettledAndAtTheLimit() {
        var connection = machine()
        connection.requestsOpened(at: at(1))
        #expect(!connection.isFull(at: at(5000)), "unproven")
        connection.settingsReceived(maximumStreams: 1, at: at(0))
        _ = connection.heard(bytes: 1, at: at(5000))
        connection.requestEnded(.answered(isSuccess: true))
        connection.requestsOpened(at: at(5000))
        #expect(connection.room == 0)
        #expect(!connection.isFull(at: at(5499)), "SETTINGS may follow")
        #expect(connection.isFull(at: at(5500)))
        connection.settingsReceived(maximumStreams: 2, at: at(0))
        #expect(!connection.isFull(at: at(6000)))
    }

    // MARK: Retirement

    @Test func goAwayLetsWhatIsInFlightEnd() {
        var connection = proven()
        connection.requestsOpened(at: at(3))
        connection.requestsOpened(at: at(3))
        connection.retire(.goAway(isCalm: false))
        #expect(connection.room == 0 && !connection.isUsable && !connection.isDone)
        connection.requestEnded(.refused)
        connection.requestEnded(.answered(isSuccess: true))
        #expect(connection.isDone)
        #expect(connection.phase == .retired(.goAway(isCalm: false)))
    }

    @Test func theFirstReasonToRetireHolds() {
        var connection = proven()
        connection.retire(.judged)
        connection.retire(.died)
        #expect(connection.phase == .retired(.judged))
    }

    @Test func whatALoweredLimitRefusesIsNotCounted() {
        var connection = proven()
        for _ in 0..<50 { connection.requestsOpened(at: at(3)) }
        connection.settingsReceived(maximumStreams: 1, at: at(3))
        for _ in 0..<50 { connection.requestEnded(.refused) }
        #expect(connection.isUsable && connection.room == 1)
        for _ in 0..<8 {
            connection.requestsOpened(at: at(4))
            connection.requestEnded(.refused)
        }
        #expect(connection.phase == .retired(.refuses), "what it allowed and refuses is")
    }

    /// A refusal comes at once, an answer only once the request has been read: requests in flight count in the connection's
    /// favour.
    @Test func refusalsWhileOthersAreOnTheirWayNarrowIt() {
        var connection = proven()
        connection.requestsOpened(100, at: at(3))
        for _ in 0..<14 { connection.requestEnded(.refused) }
        #expect(connection.isUsable && connection.room == 0, "no more than it took")
        for _ in 0..<6 { connection.requestEnded(.answered(isSuccess: true)) }
        #expect(connection.room == 12, "six in place of those, and one more for each")
        for _ in 0..<80 { connection.requestEnded(.answered(isSuccess: true)) }
        #expect(connection.room == 100 && connection.record.refused == 14 && connection.record.lost == 0)
        // A refusal of the last of many requests proves nothing about the others.
        connection.requestsOpened(100, at: at(4))
        for _ in 0..<99 { connection.requestEnded(.answered(isSuccess: true)) }
        connection.requestEnded(.refused)
        #expect(connection.room == 99)
    }

    @Test func eightRefusalsInARowAreEnough() {
        var connection = proven()
        for _ in 0..<7 {
            connection.requestsOpened(at: at(3))
            connection.requestEnded(.refused)
        }
        #expect(connection.isUsable)
        connection.requestsOpened(at: at(3))
        connection.requestEnded(.answered(isSuccess: false))
        for count in 1...8 {
            #expect(connection.isUsable, "an answer began the count anew: \(count)")
            connection.requestsOpened(at: at(3))
            connection.requestEnded(.refused)
        }
        #expect(connection.phase == .retired(.refuses))
    }

    @Test(arguments: [
        (ConnectionMachine.StreamEnd.reset, ConnectionMachine.Retirement.streamReset), (.timedOut, .timedOut),
    ])
    func anUnknownOutcomeRetires(end: ConnectionMachine.StreamEnd, reason: ConnectionMachine.Retirement) {
        var connection = proven()
        connection.requestsOpened(at: at(3))
        connection.requestEnded(end)
        #expect(connection.phase == .retired(reason))
    }

    @Test func whatNeverLeftSaysNothingAboutThePeer() {
        var connection = proven()
        for _ in 0..<20 {
            connection.requestsOpened(at: at(3))
            connection.requestEnded(.unsent)
        }
        #expect(connection.phase == .open && connection.inFlight == 0)
    }

    // MARK: PING

    @Test func silenceWithRequestsInFlightIsAskedAbout() {
        var connection = proven()
        connection.requestsOpened(at: at(60_000))
        #expect(connection.tick(at: at(60_001)) == .nothing, "the silence before was nobody's fault")
        #expect(connection.tick(at: at(69_999)) == .nothing)
        #expect(connection.tick(at: at(70_000)) == .sendPing)
        #expect(connection.isPinging)
        #expect(connection.tick(at: at(70_250)) == .nothing, "one PING at a time")
        _ = connection.heard(bytes: 1, at: at(70_300))
        connection.pingAcknowledged(at: at(70_300))
        #expect(!connection.isPinging)
        #expect(connection.tick(at: at(80_299)) == .nothing)
        #expect(connection.tick(at: at(80_300)) == .sendPing)
        #expect(connection.tick(at: at(85_299)) == .nothing)
        guard case .giveUp(let reason) = connection.tick(at: at(85_300)) else {
            Issue.record("a dead peer lives on")
            return
        }
        #expect(reason.contains("PING"))
    }

    @Test func aPeerThatTalksIsNotDead() {
        var connection = proven()
        connection.requestsOpened(at: at(0))
        #expect(connection.tick(at: at(10_002)) == .sendPing)
        _ = connection.heard(bytes: 1, at: at(14_000))
        #expect(connection.tick(at: at(16_000)) == .nothing, "other bytes came after the PING")
        #expect(connection.tick(at: at(19_000)) == .giveUp("no answer to PING within 5.0 seconds"))
    }

    @Test func anIdleConnectionIsPingedOnceAnHour() {
        var connection = proven()
        #expect(connection.tick(at: at(3_600_001)) == .nothing)
        #expect(connection.tick(at: at(3_600_002)) == .sendPing)
        connection.pingAcknowledged(at: at(3_600_100))
        #expect(connection.tick(at: at(7_200_099)) == .nothing)
        #expect(connection.tick(at: at(7_200_100)) == .sendPing)
    }
}
