// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

extension AppKey {
    /// The members with which every answer about one app begins.
    static let shape = Shape<AppKey>([
        .member(.app, .text, "The app's name in the configuration.") { $0.app },
        .member(.platform, .words(Platform.self)) { $0.platform.rawValue },
    ])
}

extension DeviceField {
    var member: ShapeMember<DeviceRegistration> {
        ShapeMember(property: .init(name, schema.described(note))) { writer, device, sight in
            writer.member(self, of: device, for: sight)
        }
    }
}

extension DeviceRegistration {
    /// The first members of every answer about a device, in the form that the import takes.
    static let shape = Shape<DeviceRegistration>([
        AppKey.shape.members { $0.app },
        .personal(.token) { $0.token },
        .all(DeviceField.values.map(\.member)),
    ])

    /// The token's push service. Exported lines leave it out, as the token's form shows it.
    static let provider = Shape<DeviceRegistration>([
        .optional(
            .provider, .words(ProviderName.beside.map(\.rawValue)),
            "The push service of the token, where it is not the platform's own: Firebase, for an iPhone."
        ) { device in
            device.channel.isBeside ? device.channel.provider(on: device.app.platform).rawValue : nil
        }
    ])
}

extension DeviceRecord {
    static let shape = Shape<DeviceRecord>(
        "Device", "A device as the registry keeps it.",
        [
            DeviceRegistration.shape.members { $0.registration },
            DeviceRegistration.provider.members { $0.registration },
            .member(.registeredAt, .instant) { $0.registeredAt },
            .nullable(.retiredAt, .instant, "When the push service declared the token dead.") { $0.retiredAt },
        ])

    /// A line of an export. `LineFormat.device` writes it.
    static let lineShape = Shape<DeviceRecord>(
        "DeviceLine", "A line of an export. Imported again, it changes nothing.",
        [
            DeviceRegistration.shape.members { $0.registration },
            .member(.registeredAt, .instant) { $0.registeredAt },
            .nullable(
                .deadSince, .instant, "When the push service declared the token dead (retiredAt of one device)."
            ) { $0.retiredAt },
            .nullable(
                .seenAt, .instant,
                "When the device last reported another version than the relay had, without registering."
            ) { $0.seenAt },
        ])
}

/// A device as its registration leaves it, and what became of the device that it replaced.
struct RegisteredDevice {
    let record: DeviceRecord
    let replaced: DeviceReplacement?

    static let shape = Shape<RegisteredDevice>(
        "RegisteredDevice", "A device as the registry keeps it now.",
        [
            DeviceRecord.shape.members { $0.record },
            .optional(
                .replaced, .words(DeviceReplacement.self),
                "If replaces was given. moved: the device of that token has this one now, and keeps its place in each campaign; removed: this token had a device of its own already, and the other is removed; unknown: that token had no device."
            ) { $0.replaced?.rawValue },
        ])
}

extension DeadDevice {
    static let shape = Shape<DeadDevice>(
        "DeadDevice", "A device whose token is dead.",
        [
            DeviceRecord.shape.members { $0.record },
            .member(.since, .text, "The position behind it, for the parameter since.") { Cursor.text($0.place) },
        ])
}
