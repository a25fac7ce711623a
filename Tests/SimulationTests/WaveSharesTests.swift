// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Simulation

/// How near a wave has to come to its percentage.
@Suite struct WaveSharesTests {
    @Test func theTailIsExact() {
        #expect(WaveShares.tail(0, of: 10, 0.5) == 1)
        #expect(WaveShares.tail(11, of: 10, 0.5) == 0)
        // (252 + 210 + 120 + 45 + 10 + 1) / 1024
        #expect(WaveShares.tail(5, of: 10, 0.5) == 0.623046875)
        #expect(abs(WaveShares.tail(10, of: 10, 0.1) / 1e-10 - 1) < 1e-9)
        #expect(abs(WaveShares.tail(1, of: 120, 0.1) - 1) < 1e-5)
    }

    @Test func fewUsersMayAllBeFirst() {
        var shares = WaveShares(ends: [10, 50, 100], users: 8)
        for _ in 0..<8 { #expect(shares.pushes(inWave: 1) == nil) }
    }

    @Test func aShareThatIsDoubledIsSeen() {
        // All are within the first two waves, which are to hold a half.
        var shares = WaveShares(ends: [10, 50, 100], users: 40)
        let faults = (0..<40).compactMap { shares.pushes(inWave: $0 < 8 ? 1 : 2) }
        // (780 + 40 + 1) / 2^40 is 7 in 10^10; one user less, and it is 10^-8.
        #expect(faults.first == "its first 50 % hold 38 of 40 users")
    }

    @Test func aWaveThatIsLeftOutIsSeen() {
        var shares = WaveShares(ends: [30, 100], users: 120)
        let faults = (0..<120).compactMap { _ in shares.pushes(inWave: 2) }
        #expect(faults.first?.hasPrefix("the 70 % after its first 30 % hold") == true)
        #expect(shares.pushes(inWave: 3) != nil)
    }
}
