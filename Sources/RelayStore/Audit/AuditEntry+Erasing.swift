// SPDX-License-Identifier: Apache-2.0
import UpgradeRules
import WireFormat

/// Who was taken out of the registry: enough to know them again, and no more.
extension AuditEntry {
    /// - Parameter device: as it was.
    package static func removal(of device: DeviceRecord, by actor: Signature) -> AuditEntry {
        let registration = device.registration
        return AuditEntry(
            .deviceRemove, by: actor, of: registration.app, object: Masked.token(registration.token),
            from: [
                .maskedTelephone: registration.telephone.map { .string(Masked.telephone($0)) },
                .version: registration.version.map { .string($0.text) },
            ])
    }

    /// - Parameter apps: where the user was known. Of one it is told to those who may see that one, too.
    package static func erasure(
        of telephone: String, _ erasure: UserErasure, in apps: [AppKey], by actor: Signature
    ) -> AuditEntry {
        AuditEntry(
            .userErase, by: actor, of: apps.count == 1 ? apps[0] : nil, object: Masked.telephone(telephone),
            to: [.devices: .integer(erasure.devices), .deliveries: .integer(erasure.deliveries)])
    }
}
