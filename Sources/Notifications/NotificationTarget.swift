// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import Signing

/// A receiver with the secret that it verifies with, and the form that it takes.
package struct NotificationTarget: Sendable {
    package var receiver: NotificationReceiver
    /// nil: it is not signed.
    package var secret: WebhookSecret?
    package var format: NotificationFormat
    /// A PEM file of certificates to trust instead of the system's.
    package var trustedCertificates: String?

    package init(
        receiver: NotificationReceiver, secret: WebhookSecret?, format: NotificationFormat = .json,
        trustedCertificates: String? = nil
    ) {
        self.receiver = receiver
        self.secret = secret
        self.format = format
        self.trustedCertificates = trustedCertificates
    }
}
