// SPDX-License-Identifier: Apache-2.0

/// The certificate that a client has shown to a server of ours.
package struct ClientCertificate: Sendable, Hashable {
    /// Whether one of the server's authorities issued it, and it is valid at this moment.
    package let isTrusted: Bool
    /// The pushes that APNs would accept from its owner.
    package let content: APNsCertificateContent

    init(_ certificate: X509Certificate, isTrusted: Bool) {
        self.isTrusted = isTrusted
        content = APNsCertificateContent(userID: certificate.userID) { certificate.extensionContent($0) }
    }
}
