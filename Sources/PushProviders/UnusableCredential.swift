// SPDX-License-Identifier: Apache-2.0

/// The credential cannot be used at this moment, whatever the service would say: nothing is sent with it. `PushProvider.explain`
/// has the words.
package struct UnusableCredential: Error, Hashable, CustomStringConvertible {
    /// A word like the service's own: "CertificateExpired".
    package var reason: String
    package var fault: SendingFault

    package var description: String { reason }
}
