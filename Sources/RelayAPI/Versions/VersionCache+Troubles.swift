// SPDX-License-Identifier: Apache-2.0
package import RelayStore
import UpgradeRules

/// What a person should know of requirements as they stand; from memory.
extension VersionCache {
    /// Of one app, for whoever may see what it requires.
    package func troubles(of record: VersionRecord) -> [String] {
        let seen = seen(of: record.app)
        return RequirementTrouble.all(of: record.requirements, systems: seen.systems).map(\.text)
            + [codesLack(of: record)].compactMap(\.self)
    }

    /// Of all apps that are configured, for `/readyz`.
    package func warnings() -> [ReadinessFault] {
        knownRecords.compactMap { record in
            var texts = RequirementTrouble.all(of: record.requirements, systems: seen(of: record.app).systems)
                .map(\.openText)
            // Who never asks for a document misses nothing in it.
            if isDocumentAskedFor(record.app.app) { texts += [codesLack(of: record)].compactMap(\.self) }
            guard !texts.isEmpty else { return nil }
            return ReadinessFault(
                part: "version:\(record.app.app)/\(record.app.platform.rawValue)", reason: texts.joined(separator: "; ")
            )
        }
    }

    /// Gandalf's document goes by version codes: without one it requires nothing, though a version is in force.
    private func codesLack(of record: VersionRecord) -> String? {
        guard record.app.platform == .android, let row = record.requirements.inForce,
            let section = launchSection(of: record.app), section.required == nil, row.build == nil,
            row.minimumOS.map({ minimum in seen(of: record.app).systems.allSatisfy { $0 >= minimum } }) ?? true
        else { return nil }
        return "the launch document does not require \(row.version), which is in force: no version code of it is known "
            + "(builds.required; on the command line: --required-build). Apps that go by it alone are not forced"
    }
}
