// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
import UpgradeRules

/// The devices that a list shows; a member that is nil sets no condition.
package struct DeviceFilter: Sendable {
    /// The query parameters that it is read from.
    static let parameters = ["telephone", "below", "environment", "dead"]

    package let telephone: String?
    /// Only those not known to have this version or a newer one.
    private var below: Version?
    private var environment: Channel.Environment?
    private var isDead: Bool?

    package init(_ query: inout Query) {
        telephone = query.filledText("telephone")
        if let text = query.text("below") {
            do {
                below = try Version(text)
            } catch {
                query.refuse("below", "\(error)")
            }
        }
        environment = query.choice("environment", of: Channel.Environment.allCases, \.name)
        isDead = query.flag("dead")
    }

    /// Whether a device meets the conditions. Ignores the telephone: a read by telephone finds no other devices.
    package func takes(_ record: DeviceRecord) -> Bool {
        let device = record.registration
        if let below, let version = device.version, version >= below { return false }
        return (environment ?? device.environment) == device.environment
            && (isDead ?? (record.retiredAt != nil)) == (record.retiredAt != nil)
    }
}
