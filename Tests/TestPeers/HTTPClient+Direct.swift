// SPDX-License-Identifier: Apache-2.0
package import CurlTransport

extension HTTPClient {
    /// A client for servers that a test has started on this machine.
    package init(trustedCertificates: String? = nil) {
        self.init(to: .relay, egress: Egress(trustedCertificates: trustedCertificates))
    }
}
