// SPDX-License-Identifier: Apache-2.0
import RelayStore
import UpgradeRules
import WireFormat

/// Which devices of a list are wanted; what is nil does not matter.
struct DeviceFilter: Sendable {
    /// The parameters that make it up.
    static let parameters = ["telephone", "below", "environment", "dead"]

    let telephone: String?
    /// Only those not known to have this version or a newer one.
    private var below: Version?
    private var environment: PushEnvironment?
    private var isDead: Bool?

    init(_ query: inout Query) {
        telephone = query.filledText("telephone")
        if let text = query.text("below") {
            do {
                below = try Version(text)
            } catch {
                query.refuse("below", "\(error)")
            }
        }
        if let name = query.text("environment") {
            environment = PushEnvironment(name: name)
            if environment == nil {
                query.refuse(
                    "environment", "\"production\" or \"sandbox\" is needed; got \(JSONValue.string(name).sight)")
            }
        }
        if let text = query.text("dead") {
            isDead = ["true": true, "false": false][text]
            if isDead == nil {
                query.refuse("dead", "\"true\" or \"false\" is needed; got \(JSONValue.string(text).sight)")
            }
        }
    }

    /// The telephone is not looked at: who reads by it finds no others.
    func takes(_ record: DeviceRecord) -> Bool {
        let device = record.registration
        if let below, let version = device.version, version >= below { return false }
        return (environment ?? device.environment) == device.environment
            && (isDead ?? (record.retiredAt != nil)) == (record.retiredAt != nil)
    }
}
