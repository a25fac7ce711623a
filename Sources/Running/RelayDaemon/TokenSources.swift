// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Signing

/// The sources of credentials in use, across reloads, by provider.
///
/// The routes of the old configuration go on until their requests in flight are answered. They share each source with the new
/// routes, so that a push service's answer about a key, or a new token, counts for both at once.
package struct TokenSources: Sendable {
    let apns = APNsTokenSources()
    let fcm: FCMTokenSources
    let keys: KeyReader

    package init(fcm: FCMTokenSources = FCMTokenSources(), keys: KeyReader = KeyReader()) {
        (self.fcm, self.keys) = (fcm, keys)
    }

    /// Sets the function to call when a credential that was asked for has come, or could not be had.
    package func onChange(_ body: @escaping @Sendable () -> Void) { fcm.onChange(body) }

    /// Makes each key in use read its provider token and pause from the store again. Called when another relay has changed
    /// one. No push waits for the store here.
    package func refresh(at now: Timestamp) { apns.refresh(at: now) }

    /// Provider tokens that this process has signed, for routes of all configurations.
    var signed: Int { apns.signed }
}
