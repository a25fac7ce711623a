// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Decides whether a campaign counts a device that has come up to its requirement, and whether a push or a notice at login
/// had reached the device. Pure.
///
/// A store reads the device's notice at login and its entry in the campaign's ledger, calls `judge`, and writes the mark. The
/// device counts only if the mark is new, and so once in each campaign, even where two relays mark it.
package enum AdoptionRule {
    /// A notice at login that the device must upgrade.
    package enum Notice: Sendable {
        case given
        /// The device counts already: it had come up to the requirement before the campaign came to it.
        case counted
    }

    /// The device's entry in the campaign's ledger.
    package struct Entry: Hashable, Sendable {
        package var state: DeliveryState
        /// Whether the entry is a place in a packed batch.
        package var isPacked = false
        /// Whether the device met the requirement already when the campaign came to it.
        package var wasCurrent: Bool
        /// Whether the entry is marked. Always false for a packed batch: its marks are beside it, and may exist already.
        package var isMarked = false

        package init(state: DeliveryState, wasCurrent: Bool, isMarked: Bool) {
            (self.state, self.wasCurrent, self.isMarked) = (state, wasCurrent, isMarked)
        }

        package init(_ outcome: PlainOutcome) {
            (state, isPacked, wasCurrent) = (outcome.state, true, outcome == .alreadyCurrent)
        }
    }

    /// The place of the mark.
    package enum Mark: CaseIterable, Sendable {
        case row
        case besideBatch
        /// At the notice, for a device without an entry yet. Written only while the campaign has not come to the device.
        case notice
    }

    package struct Verdict: Hashable, Sendable {
        package var mark: Mark
        /// Whether the push service had accepted a push.
        package var isPushed: Bool
        package var isNotified: Bool
        /// Whether the campaign has not come to the device yet.
        package var isEarly: Bool { mark == .notice }
    }

    /// Whether a device's notice alone shows that the device counts already, whatever its entry contains.
    package static func isSettled(by notice: Notice?) -> Bool { notice == .counted }

    /// - Returns: nil where the device counts already, met the requirement before, or has no entry and was not notified.
    package static func judge(_ entry: Entry?, _ notice: Notice?) -> Verdict? {
        guard !isSettled(by: notice) else { return nil }
        let isNotified = notice != nil
        guard let entry else { return isNotified ? Verdict(mark: .notice, isPushed: false, isNotified: true) : nil }
        guard !entry.wasCurrent, !entry.isMarked else { return nil }
        return Verdict(
            mark: entry.isPacked ? .besideBatch : .row, isPushed: entry.state == .accepted, isNotified: isNotified)
    }
}
