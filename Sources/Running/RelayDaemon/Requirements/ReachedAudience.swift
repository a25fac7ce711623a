// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import UpgradeRules

/// The devices that a bump reaches, for the rule of two persons: those below a new floor, or only its canary's; and those
/// that run a version that it blocks, also one that a floor supersedes for now: a withdrawal of the floor would bring the
/// block into force.
struct ReachedAudience {
    /// The new floor, or the one whose canary the bump names; nil: none.
    let floor: Requirement?
    /// The new blocks.
    let blocks: [Requirement]
    private let filters: [AudienceFilter]

    /// - Parameter planned: the machine's result for the bump; new rows have an id below 0.
    init(_ bump: VersionBump, in planned: Requirements) {
        blocks = bump.blocked.compactMap { planned.live($0, kind: .blocked) }.filter { $0.id < 0 }
        floor = planned.required.flatMap { $0.id < 0 || bump.telephones != nil ? $0 : nil }
        filters =
            [floor.map { AudienceFilter($0, telephones: bump.telephones) }].compactMap(\.self)
            + blocks.map { AudienceFilter($0, telephones: nil) }
    }

    func contains(_ row: DeviceRow, in devices: borrowing DeviceRows) -> Bool {
        for filter in filters where filter.reason(against: row, in: devices) == nil { return true }
        return false
    }
}
