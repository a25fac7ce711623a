// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Terminal

/// FAULTS 4: 88 % and 11 % were 99 %.
@Suite struct SharesTests {
    @Test(arguments: [
        ([884, 116], ["88%", "12%"]), ([1, 1, 1], ["34%", "33%", "33%"]), ([9000, 900, 100], ["90%", "9%", "1%"]),
        ([9_999, 1], ["99.99%", "0.01%"]), ([99_999, 1], ["99.99%", "0.01%"]), ([996, 4], ["99.6%", "0.4%"]),
        ([10, 0], ["100%", "0%"]), ([0], ["-"]), ([883, 116, 1], ["88.3%", "11.6%", "0.1%"]),
    ])
    func `The shares of all parts add up`(counts: [Int64], texts: [String]) {
        let whole = counts.reduce(0, +)
        let shares = Shares(of: whole, fitting: counts)
        let units = shares.parts(counts, of: whole, shownAs: shares.units)
        #expect(zip(units, counts).map { shares.text($0, count: $1) } == texts)
        if whole > 0 { #expect(units.reduce(0, +) == shares.units) }
    }

    @Test func `Some of the parts are rounded down`() {
        let shares = Shares(of: 3, fitting: [1])
        #expect(shares.parts([1], of: 3, shownAs: 100) == [33])
    }

    @Test func `Numbers near the largest are no trouble`() {
        let counts = [Int64.max / 2, Int64.max - Int64.max / 2]
        let shares = Shares(of: .max, fitting: counts)
        #expect(shares.parts(counts, of: .max, shownAs: shares.units).reduce(0, +) == 100)
    }
}
