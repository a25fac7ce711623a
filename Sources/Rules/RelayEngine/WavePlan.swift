// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// How a campaign's audience is cut into waves: the first hundredth, the next nine, and so on.
package struct WavePlan: Sendable, Hashable {
    /// Parts that the audience is cut into: a wave's size is given to a hundredth of a percent.
    package static let parts = UserDraw.parts
    /// The most waves of a campaign: more than a person watches.
    package static let most = 20

    /// For each wave, how many parts it and the waves before it have: ascending, the last one all parts.
    package let ends: [Int]

    /// - Returns: nil where the ends do not rise from above 0 to all parts.
    package init?(ends: [Int]) {
        guard ends.last == Self.parts, ends.count <= Self.most else { return nil }
        guard zip([0] + ends, ends).allSatisfy({ $0 < $1 }) else { return nil }
        self.ends = ends
    }

    package var count: Int { ends.count }

    /// Parts as people read them, in percent: "1", "0.5".
    package static func percentText(_ parts: Int) -> String {
        parts % 100 == 0 ? String(parts / 100) : "\(Double(parts) / 100)"
    }

    /// The share of the audience in one wave.
    package func share(of wave: Int) -> Double {
        Double(ends[wave] - (wave == 0 ? 0 : ends[wave - 1])) / Double(Self.parts)
    }
}

/// Which wave each user of one campaign is in.
package struct WaveDraw: Sendable, Hashable {
    package let plan: WavePlan
    private let users: UserDraw

    package init(_ plan: WavePlan, requirement: Int64) {
        self.plan = plan
        users = UserDraw(requirement: requirement)
    }

    /// - Parameter telephone: the user's; nil: a device without a user is in the last wave.
    package func wave(of telephone: (some Sequence<UInt8>)?) -> Int {
        guard let telephone else { return plan.count - 1 }
        let part = users.part(of: telephone)
        return plan.ends.firstIndex { part < $0 } ?? plan.count - 1
    }
}
