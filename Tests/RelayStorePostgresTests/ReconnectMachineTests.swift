// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@testable import RelayStorePostgres

@Suite("Connecting again")
struct ReconnectMachineTests {
    private static func at(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 1_000_000_000) + .milliseconds(milliseconds)
    }

    @Test func whileItIsThereAnybodyConnects() {
        var machine = ReconnectMachine()
        #expect(machine.needed(at: Self.at(0)) == .dial)
        #expect(machine.needed(at: Self.at(0)) == .dial)
        #expect(machine.connected(at: Self.at(1)) == nil)
        #expect(machine.isUp)
    }

    @Test func whenItIsGoneOneTriesAtOnceAndTheOthersWaitForHim() {
        var machine = ReconnectMachine()
        machine.broke("it stopped", generation: 0, at: Self.at(0))
        machine.broke("the second connection", generation: 0, at: Self.at(0))
        #expect(machine.needed(at: Self.at(0)) == .dial)
        #expect(machine.needed(at: Self.at(0)) == .wait(until: Self.at(5000)))
        #expect(machine.failed("refused", at: Self.at(10), random: 0) == .lost(reason: "refused"))
        #expect(machine.needed(at: Self.at(10)) == .wait(until: Self.at(110)))
        #expect(machine.needed(at: Self.at(110)) == .dial)
        #expect(machine.connected(at: Self.at(120)) == .back(after: .milliseconds(110), tries: 1))
        #expect(machine.outages == 1)
        #expect(machine.needed(at: Self.at(120)) == .dial)
        #expect(machine.needed(at: Self.at(120)) == .dial)
    }

    @Test func aConnectionThatBreaksAloneIsReplaced() {
        var machine = ReconnectMachine()
        machine.broke("terminated", generation: 0, at: Self.at(0))
        #expect(machine.needed(at: Self.at(1)) == .dial)
        #expect(machine.connected(at: Self.at(2)) == .replaced(reason: "terminated"))
        #expect(machine.outages == 0)
    }

    @Test func aConnectionThatBrokeLongAgoIsNoOutageSinceThen() {
        var machine = ReconnectMachine()
        machine.broke("terminated", generation: 0, at: Self.at(0))
        #expect(machine.needed(at: Self.at(3_600_000)) == .dial)
        #expect(machine.failed("refused", at: Self.at(3_600_000), random: 0) == .lost(reason: "refused"))
        #expect(machine.needed(at: Self.at(3_600_001)) == .wait(until: Self.at(3_600_100)))
    }

    @Test func whatWasMadeBeforeAnOutageIsNoNews() {
        var machine = ReconnectMachine()
        _ = machine.failed("refused", at: Self.at(0), random: 0)
        _ = machine.connected(at: Self.at(100))
        machine.broke("an old one", generation: 0, at: Self.at(3_600_000))
        #expect(machine.isUp)
        machine.broke("a new one", generation: 1, at: Self.at(3_600_000))
        #expect(!machine.isUp)
    }

    @Test func severalThatFailAtOnceCountAsOne() {
        var machine = ReconnectMachine()
        for _ in 0..<8 { #expect(machine.needed(at: Self.at(0)) == .dial) }
        #expect(machine.failed("refused", at: Self.at(1), random: 0) == .lost(reason: "refused"))
        for _ in 0..<7 { #expect(machine.failed("refused", at: Self.at(2), random: 0) == nil) }
        #expect(machine.needed(at: Self.at(2)) == .wait(until: Self.at(101)))
    }

    @Test func whatCannotBeReachedFromTheStartIsSaidOnce() {
        var machine = ReconnectMachine()
        #expect(machine.needed(at: Self.at(0)) == .dial)
        #expect(machine.failed("refused", at: Self.at(0), random: 0) == .lost(reason: "refused"))
        #expect(machine.needed(at: Self.at(100)) == .dial)
        #expect(machine.failed("refused", at: Self.at(100), random: 0) == nil)
        #expect(machine.connected(at: Self.at(500)) == .back(after: .milliseconds(500), tries: 2))
    }

    @Test func afterFiveSecondsNobodyWaitsAnyMore() {
        var machine = ReconnectMachine()
        machine.broke("it stopped", generation: 0, at: Self.at(0))
        #expect(machine.needed(at: Self.at(0)) == .dial)
        _ = machine.failed("no route", at: Self.at(100), random: 0)
        #expect(machine.needed(at: Self.at(200)) == .dial)
        #expect(machine.needed(at: Self.at(5099)) == .wait(until: Self.at(5100)))
        #expect(machine.needed(at: Self.at(5100)) == .refuse(since: .milliseconds(5000), reason: "no route"))
        _ = machine.failed("no answer", at: Self.at(6000), random: 0)
        #expect(machine.needed(at: Self.at(6001)) == .refuse(since: .milliseconds(5901), reason: "no answer"))
        // The caller that comes when a try is due makes it.
        #expect(machine.needed(at: Self.at(6200)) == .dial)
    }

    @Test(arguments: [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1600), (6, 2000), (7, 2000), (1000, 2000)])
    func backOff(tries: Int, milliseconds: Int) {
        #expect(ReconnectMachine.backOff(after: tries, random: 0) == .milliseconds(milliseconds))
        #expect(ReconnectMachine.backOff(after: tries, random: 1) == .milliseconds(milliseconds * 5 / 4))
    }
}

@Suite("What was lost with a connection")
struct RepetitionTests {
    private static func isDue(
        _ failure: PostgresFailure, isUnknown: Bool = false, attempt: Int = 1, isReadOnly: Bool = false,
        late: Bool = false
    ) -> Bool {
        var failure = failure
        failure.isOutcomeUnknown = isUnknown
        let now = MonotonicTime(nanoseconds: 5_000_000_000)
        return Repetition.isDue(
            after: failure, attempt: attempt, isReadOnly: isReadOnly, at: now,
            deadline: late ? now : now + .seconds(1))
    }

    private static func refused(_ state: SQLState) -> PostgresFailure { PostgresFailure(.refused(state), "no") }

    @Test func readingIsAskedAgain() {
        let lost = PostgresFailure(.lost, "gone")
        #expect(Self.isDue(lost, isUnknown: true, isReadOnly: true))
        #expect(Self.isDue(Self.refused("57P01"), isUnknown: true, isReadOnly: true))
        #expect(!Self.isDue(lost, attempt: 3, isReadOnly: true))
        #expect(!Self.isDue(lost, isReadOnly: true, late: true))
        #expect(!Self.isDue(PostgresFailure(.silent, "no answer"), isReadOnly: true))
    }

    @Test func writingOnlyWhereNothingCameOfIt() {
        let lost = PostgresFailure(.lost, "gone")
        #expect(Self.isDue(lost))
        #expect(!Self.isDue(lost, isUnknown: true))
        #expect(!Self.isDue(Self.refused("57P02"), isUnknown: true))
        #expect(Self.isDue(Self.refused("57P01")))
        #expect(Self.isDue(Self.refused("40001")))
        #expect(Self.isDue(Self.refused("40P01")))
        #expect(Self.isDue(Self.refused("0A000")))
        for state in ["55P03", "57014", "53300", "53100", "23505", "42501"] {
            #expect(!Self.isDue(Self.refused(SQLState(state))), "\(state)")
        }
    }
}
