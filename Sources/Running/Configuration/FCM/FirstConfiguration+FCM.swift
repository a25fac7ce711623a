// SPDX-License-Identifier: Apache-2.0
import RelayEngine

extension FirstConfiguration.Service {
    package static let fcm = Self(provider: .fcm, keyName: "fcm-account", keyMember: "serviceAccount")
}
