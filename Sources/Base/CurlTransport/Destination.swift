// SPDX-License-Identifier: Apache-2.0

/// A kind of server that is dialled. Every client names its kind, so that a test can try each of them through each kind of
/// proxy.
package enum Destination: String, Sendable, CaseIterable {
    case apns, fcm
    /// Google's token endpoints: for pushes and for Google Play.
    case googleTokens
    case appStore, appStoreConnect, googlePlay, launchGate
    /// A receiver of `notify`.
    case receiver
    /// A relay, by a command's `--url`.
    case relay
}
