// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// When a reminder is due, by the campaign's start and what was sent before.
@Suite struct ReminderScheduleTests {
    private let start = Timestamp(seconds: 1_000_000)
    private let schedule = ReminderSchedule([3, 7, 14].map { .seconds(86_400) * $0 })

    private func day(_ number: Int) -> Timestamp { start + .seconds(86_400) * number }

    private func next(_ last: Timestamp?, at now: Timestamp) -> ReminderSchedule.Decision {
        schedule.next(startedAt: start, last: last, at: now)
    }

    @Test func eachIsDueItsTimeAfterTheStart() {
        #expect(next(nil, at: start) == .wait(until: day(3)))
        #expect(next(nil, at: day(3) - .milliseconds(1)) == .wait(until: day(3)))
        #expect(next(nil, at: day(3)) == .begin(dueAt: day(3)))
        #expect(next(day(3), at: day(3)) == .wait(until: day(7)))
        #expect(next(day(7), at: day(8)) == .wait(until: day(14)))
        #expect(next(day(14), at: day(400)) == .over)
    }

    @Test func ofThoseThatWereMissedOnlyTheLatestIsMadeUpFor() {
        #expect(next(nil, at: day(8)) == .begin(dueAt: day(7)))
        #expect(next(nil, at: day(400)) == .begin(dueAt: day(14)))
        #expect(next(day(7), at: day(8)) == .wait(until: day(14)))
    }

    @Test func whatWasDueBeforeTheLastIsOverWhateverTheConfigurationSaysNow() {
        #expect(ReminderSchedule([.seconds(86_400)]).next(startedAt: start, last: day(3), at: day(4)) == .over)
        #expect(
            ReminderSchedule([.seconds(86_400), .seconds(5 * 86_400)]).next(startedAt: start, last: day(3), at: day(4))
                == .wait(until: day(5)))
    }

    @Test func withoutTimesNobodyIsReminded() {
        #expect(ReminderSchedule([]).next(startedAt: start, last: nil, at: day(400)) == .over)
    }

    @Test func aClockThatWasSetBackSendsNothingTwice() {
        #expect(next(day(7), at: day(2)) == .wait(until: day(14)))
    }
}
