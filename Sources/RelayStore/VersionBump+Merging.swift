// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import UpgradeRules

/// What a bump makes of a record: pure, for the dry run must come to what the bump itself comes to.
extension VersionBump {
    /// Versions rise, `latest` is never behind `required`, and texts are this bump's own.
    ///
    /// A version that is equal keeps the spelling that it has.
    ///
    /// - Throws: `StoreError.versionWouldFall`.
    package func merged(into before: VersionRecord?, at now: Timestamp) throws -> VersionRecord {
        var after = before ?? VersionRecord(app: app, updatedAt: now)
        after.required = try raised("required", from: before?.required, to: required)
        after.latest = try raised("latest", from: before?.latest, to: latest)
        if let required = after.required, after.latest.map({ $0 < required }) ?? true { after.latest = required }
        after.builds = try raised(after.builds, to: builds)
        let rose = after.required != before?.required
        if isComplete || rose || after.latest != before?.latest {
            (after.downloadURL, after.message) = (downloadURL, message)
        } else {
            after.downloadURL = downloadURL ?? after.downloadURL
            after.message = message ?? after.message
        }
        after.telephones = rose ? telephones : telephones ?? after.telephones
        after.updatedAt = now
        return after
    }

    /// Whether what it leaves out of its texts means the configuration's. A bump that raises nothing and names no requirement
    /// only mends what it brings: a build tool that announces the same version each night does not take a message away.
    package var isComplete: Bool { required != nil }

    private func raised(_ current: BuildNumbers, to proposed: BuildNumbers) throws -> BuildNumbers {
        var builds = BuildNumbers(
            latest: try raised("builds.latest", from: current.latest, to: proposed.latest),
            required: try raised("builds.required", from: current.required, to: proposed.required))
        if let required = builds.required { builds.latest = max(builds.latest ?? required, required) }
        return builds
    }

    private func raised(_ field: String, from current: Int64?, to proposed: Int64?) throws -> Int64? {
        let version = try raised(field, from: current.map(Self.version), to: proposed.map(Self.version))
        return version.flatMap { Int64($0.text) }
    }

    private static func version(_ build: Int64) throws -> Version { try Version(String(build)) }

    private func raised(_ field: String, from current: Version?, to proposed: Version?) throws -> Version? {
        guard let proposed else { return current }
        guard let current else { return proposed }
        guard proposed >= current else {
            throw StoreError(
                .versionWouldFall(field: field, current: current, proposed: proposed),
                context: "\(field) of \(app.app) (\(app.platform.rawValue)) is \(current); \(proposed) is older",
                hint: "Versions only rise: send \(current) or a newer one")
        }
        return proposed == current ? current : proposed
    }
}
