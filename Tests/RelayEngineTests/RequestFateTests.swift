// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelayEngine

/// The fate of a request whose connection gave it back, lost it, or had to stop.
struct RequestFateTests {
    @Test func notProcessedGoesAgainWithItsHistory() {
        let pool = PoolMachine(maximumConnections: 1)
        #expect(pool.fate(after: .notProcessed, isSecond: false, sends: 1) == .sendAgain(isSecond: false))
        #expect(pool.fate(after: .notProcessed, isSecond: true, sends: 2) == .sendAgain(isSecond: true))
        #expect(pool.fate(after: .notProcessed, isSecond: false, sends: 63) == .sendAgain(isSecond: false))
        #expect(pool.fate(after: .notProcessed, isSecond: false, sends: 64) == .unsent, "no loop without end")
        #expect(
            pool.fate(after: .notProcessed, isSecond: true, sends: 64) == .lost, "it may have arrived the first time")
    }

    @Test func unknownGoesOutOnceMoreAndNoMore() {
        let pool = PoolMachine(maximumConnections: 1)
        #expect(pool.fate(after: .unknown, isSecond: false, sends: 1) == .sendAgain(isSecond: true))
        #expect(pool.fate(after: .unknown, isSecond: true, sends: 2) == .lost)
        #expect(
            pool.fate(after: .unknown, isSecond: false, sends: 9) == .sendAgain(isSecond: true), "refusals do not count"
        )
    }

    @Test func nothingGoesAgainAfterStop() {
        var pool = PoolMachine(maximumConnections: 1)
        pool.stop()
        #expect(pool.fate(after: .notProcessed, isSecond: false, sends: 1) == .unsent)
        #expect(pool.fate(after: .notProcessed, isSecond: true, sends: 2) == .lost)
        #expect(pool.fate(after: .unknown, isSecond: false, sends: 1) == .lost)
    }

    @Test func nothingGoesAgainThatWasCalledBack() {
        let pool = PoolMachine(maximumConnections: 1)
        #expect(pool.fate(after: .notProcessed, isSecond: false, sends: 1, isWithdrawn: true) == .unsent)
        #expect(pool.fate(after: .notProcessed, isSecond: true, sends: 2, isWithdrawn: true) == .lost)
        #expect(pool.fate(after: .unknown, isSecond: false, sends: 1, isWithdrawn: true) == .lost)
    }

    @Test func withdrawnRequestsKeepTheirHistory() {
        #expect(PoolMachine.fateWhenWithdrawn(isSecond: false) == .unsent)
        #expect(PoolMachine.fateWhenWithdrawn(isSecond: true) == .lost)
    }
}
