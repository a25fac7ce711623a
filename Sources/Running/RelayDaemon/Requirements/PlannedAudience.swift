// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The devices that a bump would push to, found with the requirements that `RequirementMachine` makes of the bump and with
/// the filter that their campaigns use.
struct PlannedAudience {
    struct Counts {
        /// Devices that get a push by any part of the bump.
        var toPush: Int64 = 0
        /// The same by the channel that would carry the push; those without a device are left out.
        var toPushByChannel: [Channel: Int64] = [:]
        /// Devices of the floor's audience that get the push first; nil where the bump names no users.
        var canary: Int64?
        var blocks: [PlannedBlock] = []
    }

    private struct Block {
        var filter: AudienceFilter
        /// Whether the bump starts the block's campaign, and that campaign is sent.
        var isSent: Bool
    }

    let counts: Counts
    /// nil where the bump is about blocks alone.
    private let floor: (filter: AudienceFilter, rises: Bool)?
    private let canary: AudienceFilter?
    private let blocks: [Block]

    /// - Parameters:
    ///   - row: the requirement of the floor, or of the first block.
    ///   - rows: the requirements of the blocks.
    ///   - planned: the machine's result for the bump; new rows have an id below 0.
    init(
        _ bump: VersionBump, _ row: Requirement, _ rows: [Requirement], in planned: Requirements, isAboutBlocks: Bool
    ) {
        floor = isAboutBlocks ? nil : (AudienceFilter(row, telephones: nil), row.id < 0)
        canary = isAboutBlocks ? nil : bump.telephones.map { AudienceFilter(row, telephones: $0) }
        blocks = rows.map {
            Block(filter: AudienceFilter($0, telephones: nil), isSent: $0.id < 0 && !planned.isSuperseded($0))
        }
        var counts = Counts()
        counts.canary = canary == nil ? nil : 0
        counts.blocks = rows.map { row in
            var block = PlannedBlock(row.version)
            block.superseder = planned.superseder(of: row)?.version
            return block
        }
        self.counts = counts
    }

    /// Why a device gets no push; nil where it gets one.
    func reason(
        against row: DeviceRow, in devices: borrowing DeviceRows, _ counts: inout Counts
    ) -> FilterReason? {
        var reason = floor?.filter.reason(against: row, in: devices)
        var isPushed = floor.map { $0.rises && reason == nil } ?? false
        if let canary, canary.reason(against: row, in: devices) == nil {
            counts.canary? += 1
            // For a floor that exists already, only the users that the bump names get a push.
            isPushed = true
        }
        for (place, block) in blocks.enumerated() {
            var why = block.filter.reason(against: row, in: devices)
            if why == nil, block.isSent {
                counts.blocks[place].toPush += 1
                isPushed = true
            }
            if why == .osTooOld { counts.blocks[place].osTooOld += 1 }
            // A device runs one version, so at most one of several blocks concerns it.
            if why == nil, !block.isSent { why = .notInAudience }
            if floor == nil, place == 0 || why != .alreadyCurrent { reason = why }
        }
        if isPushed {
            counts.toPush += 1
            counts.toPushByChannel[row.channel, default: 0] += 1
        }
        return isPushed ? nil : reason
    }
}
