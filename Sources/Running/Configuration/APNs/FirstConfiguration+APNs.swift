// SPDX-License-Identifier: Apache-2.0
import RelayEngine

extension FirstConfiguration.Service {
    /// Ten characters each.
    package static func apns(teamID: String, keyID: String) -> Self {
        Self(
            provider: .apns, keyName: "apns-key", isOfUnit: true, keyMember: "key",
            facts: [.init(name: "teamId", value: teamID), .init(name: "keyId", value: keyID)])
    }
}
