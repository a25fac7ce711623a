// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Simulation

/// The bounds within which a wave must hold its percentage.
@Suite struct WaveSharesTests {
    @Test func theTailIsExact() {
        func tail(_ count: Int, _ users: Int, _ share: Double) -> Double {
            WaveShares.tail(count, of: [(users, share)])
        }
        #expect(tail(0, 10, 0.5) == 1)
        #expect(tail(11, 10, 0.5) == 0)
        // (252 + 210 + 120 + 45 + 10 + 1) / 1024
        #expect(tail(5, 10, 0.5) == 0.623046875)
        #expect(abs(tail(10, 10, 0.1) / 1e-10 - 1) < 1e-9)
        #expect(abs(tail(1, 120, 0.1) - 1) < 1e-5)
        // One of the first and both of the second, or both of the first and one of the second, or all.
        #expect(WaveShares.tail(3, of: [(2, 0.5), (2, 0.25)]) == 0.5 * 0.0625 + 0.25 * 0.375 + 0.25 * 0.0625)
    }

    /// The six users of one campaign may all be in its first two waves; those of six campaigns may not.
    @Test func campaignsAreSeenTogether() {
        var all: [WaveShares] = []
        for _ in 0..<6 {
            var shares = WaveShares(ends: [10, 50, 100], users: 6)
            for user in 0..<6 { #expect(shares.pushes(inWave: user < 1 ? 1 : 2) == nil) }
            if all.count < 4 { #expect(WaveShares.fault(in: all + [shares]) == nil) }
            all.append(shares)
        }
        #expect(
            WaveShares.fault(in: all)
                == "the waves before the last of 6 campaigns hold 36 of 36 users, and 18 are expected")
        #expect(WaveShares.fault(in: []) == nil)
    }

    @Test func fewUsersMayAllBeFirst() {
        var shares = WaveShares(ends: [10, 50, 100], users: 8)
        for _ in 0..<8 { #expect(shares.pushes(inWave: 1) == nil) }
    }

    @Test func aShareThatIsDoubledIsSeen() {
        // All are within the first two waves, which should hold half.
        var shares = WaveShares(ends: [10, 50, 100], users: 40)
        let faults = (0..<40).compactMap { shares.pushes(inWave: $0 < 8 ? 1 : 2) }
        // (780 + 40 + 1) / 2^40 is 7 in 10^10; with one user less it is 10^-8.
        #expect(faults.first == "its first 50 % hold 38 of 40 users")
    }

    @Test func aWaveThatIsLeftOutIsSeen() {
        var shares = WaveShares(ends: [30, 100], users: 120)
        let faults = (0..<120).compactMap { _ in shares.pushes(inWave: 2) }
        #expect(faults.first?.hasPrefix("the 70 % after its first 30 % hold") == true)
        #expect(shares.pushes(inWave: 3) != nil)
    }
}
