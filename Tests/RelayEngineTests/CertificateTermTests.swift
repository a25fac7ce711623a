// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

/// When a certificate holds, and when its end is reported.
@Suite struct CertificateTermTests {
    private static let day = Duration.seconds(86_400)
    private static let end = Timestamp(seconds: 1_800_000_000)
    private let term = CertificateTerm(notBefore: end - day * 365, notAfter: end)

    /// Seconds after its end.
    private static let standings: [(Int64, CertificateTerm.Standing)] = [
        (-31_536_001, .notYet), (-31_536_000, .good), (-2_592_001, .good), (-2_592_000, .ending), (0, .ending),
        (1, .ended), (34_560_000, .ended),
    ]

    @Test(arguments: standings)
    func `Each moment has one standing`(seconds: Int64, standing: CertificateTerm.Standing) {
        #expect(term.standing(at: Self.end + .seconds(seconds)) == standing)
    }

    @Test func `Its end is told of at the first look and then once a day`() {
        var reminder = CertificateReminder(term)
        #expect(reminder.look(at: Self.end - Self.day * 40) == nil)
        #expect(reminder.look(at: Self.end - Self.day * 30) == .ending)
        #expect(reminder.look(at: Self.end - Self.day * 30 + .seconds(86_399)) == nil)
        #expect(reminder.look(at: Self.end - Self.day * 29) == .ending)
        // A look every ten minutes reports it as often.
        var told = 0
        var now = Self.end - Self.day * 29
        while now < Self.end {
            now = now + .seconds(600)
            if reminder.look(at: now) != nil { told += 1 }
        }
        #expect(told == 29)
    }

    @Test func `That it has ended is told at once, whenever its end was told of last`() {
        var reminder = CertificateReminder(term)
        #expect(reminder.look(at: Self.end) == .ending)
        #expect(reminder.look(at: Self.end + .milliseconds(1)) == .ended)
        #expect(reminder.look(at: Self.end + .seconds(3_600)) == nil)
        #expect(reminder.look(at: Self.end + Self.day + .seconds(1)) == .ended)
    }

    @Test func `A clock that was wrong and is set right is told of, too`() {
        var reminder = CertificateReminder(term)
        #expect(reminder.look(at: Self.end - Self.day * 400) == .notYet)
        #expect(reminder.look(at: Self.end - Self.day * 100) == .good)
        #expect(reminder.look(at: Self.end - Self.day * 99) == nil)
        // The clock is set back while the end is reported.
        #expect(reminder.look(at: Self.end - Self.day * 2) == .ending)
        #expect(reminder.look(at: Self.end - Self.day * 3) == .ending)
    }
}
