// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
package import RelayStore
package import Signing

/// A receiver, the secret that it verifies signatures with, and the format that it accepts.
package struct NotificationTarget: Sendable {
    package var receiver: NotificationReceiver
    /// nil: notifications are not signed.
    package var secret: WebhookSecret?
    package var format: NotificationFormat
    /// The way to the receiver.
    package var egress: Egress

    package init(
        receiver: NotificationReceiver, secret: WebhookSecret?, format: NotificationFormat = .json,
        egress: Egress
    ) {
        self.receiver = receiver
        self.secret = secret
        self.format = format
        self.egress = egress
    }
}
