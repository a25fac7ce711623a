// SPDX-License-Identifier: Apache-2.0

/// How a campaign's audience is cut into waves: whom the first hundredth is, whom the next nine, and so on.
package struct WavePlan: Sendable, Hashable {
    /// Parts that the audience is cut into: a wave is given to a hundredth of a percent.
    package static let parts = 10_000
    /// More waves than anybody watches.
    package static let most = 20

    /// For each wave, how many parts it and those before it are: ascending, the last all of them.
    package let ends: [Int]

    /// - Returns: nil where the ends do not rise from above 0 to all parts.
    package init?(ends: [Int]) {
        guard ends.last == Self.parts, ends.count <= Self.most else { return nil }
        guard zip([0] + ends, ends).allSatisfy({ $0 < $1 }) else { return nil }
        self.ends = ends
    }

    package var count: Int { ends.count }

    /// The share of the audience in one wave.
    package func share(of wave: Int) -> Double {
        Double(ends[wave] - (wave == 0 ? 0 : ends[wave - 1])) / Double(Self.parts)
    }
}

/// Which wave each device of one campaign falls into.
///
/// Decided by the device's token and the campaign, by nothing else: the same after a restart, whatever the order of
/// registration, the telephone or the version, and other devices come first in the next campaign.
package struct WaveDraw: Sendable, Hashable {
    package let plan: WavePlan
    private let salt: UInt64

    /// - Parameter campaign: the campaign's public id, hex digits.
    package init(_ plan: WavePlan, campaign: String) {
        self.plan = plan
        salt = UInt64(campaign, radix: 16) ?? 0
    }

    /// - Parameter hash: 64 bits that are the token's.
    package func wave(of hash: UInt64) -> Int {
        // SplitMix64's finalizer (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014): each bit of
        // the hash and of the salt changes half of the result's.
        var bits = hash ^ (salt &* 0x9E37_79B9_7F4A_7C15)
        bits = (bits ^ (bits &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits &>> 27)) &* 0x94D0_49BB_1331_11EB
        bits ^= bits &>> 31
        let part = Int(((bits &>> 32) &* UInt64(WavePlan.parts)) &>> 32)
        return plan.ends.firstIndex { part < $0 } ?? plan.count - 1
    }
}
