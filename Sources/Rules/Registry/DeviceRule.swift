// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Decides how an observation changes a device: a registration, an import's row, a PATCH, a replaced token. Pure.
///
/// A store reads the device, compares its fields with the observation's, calls `judge`, and writes. Nothing here allocates: a
/// store of millions of devices calls it once a row.
package struct DeviceRule: Sendable {
    package let source: RegistrationSource
    package let now: Timestamp

    package init(_ source: RegistrationSource, at now: Timestamp) {
        self.source = source
        self.now = now
    }

    /// A device as the store has it.
    package struct Known {
        package var life: DeviceLife
        /// Fields whose value differs from the observation's, byte for byte. Fields that the observation leaves out do not matter.
        package var differing: DeviceFieldSet
        /// Texts that have no value. Used only where a reported field differs.
        package var absent: DeviceFieldSet

        package init(_ life: DeviceLife, differing: DeviceFieldSet, absent: DeviceFieldSet) {
            self.life = life
            self.differing = differing
            self.absent = absent
        }
    }

    package enum Verdict: Hashable, Sendable {
        /// Nothing is written.
        case unchanged(isVersionKept: Bool)
        case update(Update)
    }

    package struct Update: Hashable, Sendable {
        /// Fields that take the observation's value.
        package var writes: DeviceFieldSet
        package var life: DeviceLife
        package var death: Death
        /// Whether the device had been removed and is back: it counts as one more.
        package var isBack: Bool
        /// Whether its user has changed: the store remembers the former user as long as deliveries name that user.
        package var isHandedOver: Bool
        /// Whether an older version in records was ignored.
        package var isVersionKept: Bool

        /// Whether the device runs another version, which may meet a campaign's requirement.
        package var mayUpgrade: Bool { writes.contains(.version) }
        /// Whether the device no longer counts among the devices of its former version.
        package var leavesVersion: Bool { !isBack && writes.contains(.version) }
        /// Whether the device now counts among the devices of a version and did not before: of its new version, or of its
        /// former one if it is back.
        package var joinsVersion: Bool { isBack || writes.contains(.version) }
    }

    package enum Death: Hashable, Sendable {
        case same
        /// The device is dead since this observation, or has died again.
        case began
        case ended
    }

    /// The life of a new device.
    package func begin(_ said: Observation) -> DeviceLife {
        DeviceLife(after: said, from: source, before: nil, at: now)
    }

    /// - Parameter isOlder: whether the observation's value of `.version` or `.osVersion` is a version below the device's. Called
    ///   only where it decides, because reading a version is expensive.
    package func judge(_ said: Observation, _ known: Known, isOlder: (DeviceField) -> Bool) -> Verdict {
        let before = known.life
        var life = DeviceLife(after: said, from: source, before: before, at: now)
        var writes = known.differing.subtracting(said.leftOut)
        var isVersionKept = false
        if source == .records, !before.wasRemoved, !writes.isDisjoint(with: .reported) {
            if before.outlasts(said, life, isOlder: writes.contains(.version) && isOlder(.version)) {
                if writes.remove(.version) != nil { (isVersionKept, life.seen) = (true, before.seen) }
                // The rest of the records is as old as their version. It only fills fields that have no value.
                writes.subtract(DeviceFieldSet.reported.subtracting(known.absent))
            } else if writes.contains(.osVersion), before.outlasts(said, life, isOlder: isOlder(.osVersion)) {
                writes.remove(.osVersion)
            }
        }
        if source == .records, writes.isEmpty, !before.wasRemoved, life == before {
            return .unchanged(isVersionKept: isVersionKept)
        }
        let isHandedOver = writes.contains(.telephone)
        // A removed device has no telephone that could be kept.
        if before.wasRemoved { writes.insert(.telephone) }
        return .update(
            Update(
                writes: writes, life: life, death: Self.death(before, life), isBack: before.wasRemoved,
                isHandedOver: isHandedOver, isVersionKept: isVersionKept))
    }

    private static func death(_ before: DeviceLife, _ after: DeviceLife) -> Death {
        if after.dead == nil { return before.dead != nil && !before.wasRemoved ? .ended : .same }
        return before.wasRemoved || after.dead != before.dead ? .began : .same
    }
}
