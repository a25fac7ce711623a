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

/// Where each user stands in the order in which a requirement reaches users.
///
/// Decided by the user's telephone and the requirement, by nothing else: the same on all devices of a user, on every channel that knows the
/// user and after a restart, and other users come first in the next requirement.
package struct UserDraw: Sendable, Hashable {
    private let salt: UInt64

    package init(requirement: Int64) {
        salt = UInt64(bitPattern: requirement)
    }

    /// From 0 to 9,999: the requirement is in force for the user as soon as its reach is above that.
    ///
    /// - Parameter hash: FNV-1a of the telephone's bytes.
    package func part(of hash: UInt64) -> Int {
        // SplitMix64's finalizer (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014): each bit of
        // the hash and of the salt changes half of the result's.
        var bits = hash ^ (salt &* 0x9E37_79B9_7F4A_7C15)
        bits = (bits ^ (bits &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits &>> 27)) &* 0x94D0_49BB_1331_11EB
        bits ^= bits &>> 31
        return Int(((bits &>> 32) &* UInt64(WavePlan.parts)) &>> 32)
    }

    package func part(of telephone: some Sequence<UInt8>) -> Int { part(of: FNV1a.hash(telephone)) }
}

/// Which wave each user of one campaign is in.
package struct WaveDraw: Sendable, Hashable {
    package let plan: WavePlan
    private let users: UserDraw

    package init(_ plan: WavePlan, requirement: Int64) {
        self.plan = plan
        users = UserDraw(requirement: requirement)
    }

    /// - Parameter telephone: the user's; nil: nobody's device is of the last wave.
    package func wave(of telephone: (some Sequence<UInt8>)?) -> Int {
        guard let telephone else { return plan.count - 1 }
        let part = users.part(of: telephone)
        return plan.ends.firstIndex { part < $0 } ?? plan.count - 1
    }
}
