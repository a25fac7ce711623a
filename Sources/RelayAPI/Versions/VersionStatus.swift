// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore

/// An app's versions with what only the running process knows: why what is asked for is not in force yet.
package struct VersionStatus: Sendable {
    package var record: VersionRecord
    /// Of what is required and announced; nil where all of it is in force, or where nothing is known to hold it.
    package var wait: GateVerdict?
    /// What is to be left, the highest first.
    package var blocks: [BlockStatus]

    package init(_ record: VersionRecord, wait: GateVerdict?, blockWait: (Requirement) -> GateVerdict?) {
        self.record = record
        self.wait = wait
        blocks = record.requirements.blocks.map {
            BlockStatus($0, isSuperseded: record.requirements.isSuperseded($0), wait: blockWait($0))
        }
    }
}

/// One version that is to be left.
package struct BlockStatus: Sendable {
    package var requirement: Requirement
    /// A floor above it is in force for everybody, and says more.
    package var isSuperseded: Bool
    /// Why nobody has to leave it yet.
    package var wait: GateVerdict?

    package init(_ requirement: Requirement, isSuperseded: Bool, wait: GateVerdict?) {
        self.requirement = requirement
        self.isSuperseded = isSuperseded
        self.wait = requirement.state == .inForce || isSuperseded ? nil : wait
    }

    /// "inForce", "waiting", "superseded".
    package var state: String {
        isSuperseded ? "superseded" : requirement.state == .inForce ? "inForce" : "waiting"
    }
}
