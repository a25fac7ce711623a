// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// The rule by which an act that reaches many devices of an app waits for a second person.
package struct ApprovalRule: Hashable, Sendable {
    /// The share of the app's devices, in ten-thousandths, that one person may reach alone.
    package var above: Int
    /// How long a request waits for its approval.
    package var within: Duration

    package init(above: Int, within: Duration = .seconds(86_400)) {
        (self.above, self.within) = (above, within)
    }

    package func wantsSecondPerson(for reach: ApprovalReach) -> Bool {
        reach.devices * Int64(WavePlan.parts) > Int64(above) * reach.all
    }
}

/// How many devices an act reaches, as `plan` counts them, of how many.
package struct ApprovalReach: Hashable, Sendable {
    package var devices: Int64
    /// All devices of the app.
    package var all: Int64

    package init(devices: Int64, of all: Int64) { (self.devices, self.all) = (devices, all) }
}

/// The verdict of the rule on an act, on its way to the transaction that decides.
package struct ApprovalCheck: Sendable {
    package enum Way: Hashable, Sendable {
        /// One person may do it.
        case free
        /// It waits for a second person.
        case asks(Approval.Wish, within: Duration)
        /// A second person approves this request.
        case approves(Int64)
        /// One person does it in an emergency, for this reason.
        case alone(Approval.Wish, reason: String)
    }

    package var way: Way
    package var reach: ApprovalReach
    /// The requirements that the reach was counted with: for others it does not count.
    package var measured: Requirements

    package init(_ way: Way, _ reach: ApprovalReach, measured: Requirements) {
        (self.way, self.reach, self.measured) = (way, reach, measured)
    }
}
