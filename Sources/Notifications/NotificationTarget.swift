// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import Signing

/// A receiver with the secret that it verifies with.
package struct NotificationTarget: Sendable {
    package var receiver: NotificationReceiver
    package var secret: WebhookSecret
    /// A PEM file of certificates to trust instead of the system's.
    package var trustedCertificates: String?

    package init(receiver: NotificationReceiver, secret: WebhookSecret, trustedCertificates: String? = nil) {
        self.receiver = receiver
        self.secret = secret
        self.trustedCertificates = trustedCertificates
    }
}
