// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements
package import UpgradeRules
import WireFormat

/// Decides which devices get a campaign's push (DESIGN, rule 3): applies the verdict of its rule to the bytes of a
/// batch, without allocating. Waves are no part of it: a batch is read with the devices of its wave only.
package struct AudienceFilter: Sendable {
    private let target: UpgradeTarget
    private let minimumOS: Version?
    /// UTF-8 of the telephones that the campaign goes to for now; nil: everyone.
    private let telephones: Set<ArraySlice<UInt8>>?

    package init(_ target: UpgradeTarget, minimumOS: Version? = nil, telephones: [String]?) {
        self.target = target
        self.minimumOS = minimumOS
        self.telephones = telephones.map { Set($0.map { ArraySlice($0.utf8) }) }
    }

    /// The filter for a requirement, whatever its reach so far.
    package init(_ row: Requirement, telephones: [String]?) {
        self.init(row.target, minimumOS: row.minimumOS, telephones: telephones)
    }

    /// Why the device gets no push; nil when it gets one. A device whose version is unknown, or unreadable, may be
    /// behind and gets one, but none for a block, since it is not known to run the blocked version. A device whose
    /// system is unknown may be able to run the version and gets one.
    package func reason(against row: DeviceRow, in devices: borrowing DeviceRows) -> FilterReason? {
        if row.isDead { return .knownDead }
        // The app drops a push without its user's telephone, so an empty telephone counts as none.
        if row.telephone.isAbsent || row.telephone.length == 0 { return .noTelephone }
        let telephone = devices.bytes[row.telephone.range]
        // An imported "(null)" is not a telephone.
        if ValueDoubt.telephone(telephone) == .noValue { return .noTelephone }
        if let telephones, !telephones.contains(telephone) { return .notInAudience }
        let version = row.version.isAbsent ? nil : row.version.range
        let isMeant =
            target.isBlock
            ? UpgradeVerdict.isBlocked(devices.bytes, version, target.version)
            : UpgradeVerdict.needsPush(devices.bytes, version, required: target.version)
        guard isMeant else { return .alreadyCurrent }
        if let minimumOS, !row.system.isAbsent,
            Version.isOlder(devices.bytes, row.system.range, than: minimumOS) ?? false
        {
            return .osTooOld
        }
        return nil
    }
}
