// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
import UpgradeRules

/// Which devices of a list are wanted; a member that is nil does not matter.
package struct DeviceFilter: Sendable {
    /// The parameters that make it up.
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

    /// Ignores the telephone: a read by telephone finds no other devices.
    package func takes(_ record: DeviceRecord) -> Bool {
        let device = record.registration
        if let below, let version = device.version, version >= below { return false }
        return (environment ?? device.environment) == device.environment
            && (isDead ?? (record.retiredAt != nil)) == (record.retiredAt != nil)
    }
}
