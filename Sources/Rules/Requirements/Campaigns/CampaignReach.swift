// SPDX-License-Identifier: Apache-2.0

/// How devices that obeyed a campaign had been reached, as far as that is known. Updated whenever a device reaches the
/// requirement, so that reading it counts no devices.
package struct CampaignReach: Hashable, Sendable {
    /// Registered devices that were notified at login (`/v1/check` with their token) that they must upgrade. Each
    /// counts once, whether or not it is in the campaign's audience.
    package var toldAtLogin: Int64 = 0
    /// The part of `upgraded` for which the push service had accepted a push, without a notice at login.
    package var push: Int64 = 0
    /// The part of `upgraded` that was notified at login, with no push accepted.
    package var login: Int64 = 0
    /// The part of `upgraded` with both.
    package var both: Int64 = 0
    /// The part of `login` that upgraded before the campaign reached the device; the campaign then filters it as
    /// already current.
    package var early: Int64 = 0

    package init(toldAtLogin: Int64 = 0, push: Int64 = 0, login: Int64 = 0, both: Int64 = 0, early: Int64 = 0) {
        self.toldAtLogin = toldAtLogin
        self.push = push
        self.login = login
        self.both = both
        self.early = early
    }
}
