// SPDX-License-Identifier: Apache-2.0
package import Requirements
import UpgradeRules
import WireFormat

/// Rows about devices and users removed from the registry: enough to recognise them, and no more.
extension AuditEntry {
    /// - Parameter device: its record before the removal.
    package static func removal(of device: DeviceRecord, by actor: Signature) -> AuditEntry {
        let registration = device.registration
        return AuditEntry(
            .deviceRemove, by: actor, of: registration.app, object: Masked.token(registration.token),
            from: [
                .maskedTelephone: registration.telephone.map { .string(Masked.telephone($0)) },
                .version: registration.version.map { .string($0.text) },
            ])
    }

    /// - Parameter apps: the apps where the user was known. If it is a single one, readers who may see only that
    ///   app see the row.
    package static func erasure(
        of telephone: String, _ erasure: UserErasure, in apps: [AppKey], by actor: Signature
    ) -> AuditEntry {
        AuditEntry(
            .userErase, by: actor, of: apps.count == 1 ? apps[0] : nil, object: Masked.telephone(telephone),
            to: [.devices: .integer(erasure.devices), .deliveries: .integer(erasure.deliveries)])
    }
}
