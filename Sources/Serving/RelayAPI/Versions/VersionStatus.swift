// SPDX-License-Identifier: Apache-2.0
import RelayStore
package import Requirements

/// An app's versions with a fact that only the running process knows: why a requested version is not in force yet.
package struct VersionStatus: Sendable {
    package var record: VersionRecord
    /// The wait of the required or the announced version; nil where both are in force, or where nothing is known to hold them back.
    package var wait: RequirementWait?
    /// The blocks, the highest version first.
    package var blocks: [BlockStatus]

    package init(_ record: VersionRecord, wait: RequirementWait?, blockWait: (Requirement) -> RequirementWait?) {
        self.record = record
        self.wait = wait
        blocks = record.requirements.blocks.map {
            BlockStatus($0, isSuperseded: record.requirements.isSuperseded($0), wait: blockWait($0))
        }
    }
}

/// The block of one version.
package struct BlockStatus: Sendable {
    package var requirement: Requirement
    /// Whether a floor above it is in force for everybody, and covers it.
    package var isSuperseded: Bool
    /// Why the block is not in force yet; nil where it is, or is superseded.
    package var wait: RequirementWait?

    package init(_ requirement: Requirement, isSuperseded: Bool, wait: RequirementWait?) {
        self.requirement = requirement
        self.isSuperseded = isSuperseded
        self.wait = requirement.state == .inForce || isSuperseded ? nil : wait
    }

    /// "inForce", "waiting", "superseded".
    package var state: String {
        isSuperseded ? "superseded" : requirement.state == .inForce ? "inForce" : "waiting"
    }
}
