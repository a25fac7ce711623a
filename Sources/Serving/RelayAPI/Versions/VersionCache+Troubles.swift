// SPDX-License-Identifier: Apache-2.0
import RelayStore
package import Requirements
import UpgradeRules

/// The troubles of requirements as they stand, for people; from memory.
extension VersionCache {
    /// The troubles of one app, for callers that may see its requirements.
    package func troubles(of record: VersionRecord) -> [String] {
        requirementTroubles(of: record).map(\.text) + [codesLack(of: record)].compactMap(\.self)
    }

    /// The troubles of all configured apps, for `/readyz`.
    package func warnings() -> [ReadinessFault] {
        knownRecords.compactMap { record in
            let texts = requirementTroubles(of: record).map(\.openText) + [codesLack(of: record)].compactMap(\.self)
            guard !texts.isEmpty else { return nil }
            return ReadinessFault(
                part: "version:\(record.app.app)/\(record.app.platform.rawValue)", reason: texts.joined(separator: "; ")
            )
        }
    }

    /// An app that does not use the document misses nothing in it.
    private func requirementTroubles(of record: VersionRecord) -> [RequirementTrouble] {
        let systems = isDocumentUsed(record.app.app) ? seen(of: record.app).systems : []
        return RequirementTrouble.all(of: record.requirements, systems: systems)
    }

    /// The trouble that the launch document requires nothing although a version is in force: for Gandalf, it goes by
    /// version codes, and none is known.
    private func codesLack(of record: VersionRecord) -> String? {
        guard record.app.platform == .android, isDocumentUsed(record.app.app), let row = record.requirements.inForce,
            let section = launchSection(of: record.app), section.required == nil, row.build == nil,
            row.minimumOS.map({ minimum in seen(of: record.app).systems.allSatisfy { $0 >= minimum } }) ?? true
        else { return nil }
        return "the launch document does not require \(row.version), which is in force: no version code of it is known "
            + "(builds.required; on the command line: --required-build). Apps that go by it alone are not forced"
    }
}
