// SPDX-License-Identifier: Apache-2.0

/// A client's identity in TLS: its certificate, and the key that proves it.
package struct ClientIdentity: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// PEM, the client's own certificate first.
    package let chain: [UInt8]
    /// PEM, without a password. A secret.
    package let privateKey: [UInt8]

    package init(chain: [UInt8], privateKey: [UInt8]) {
        self.chain = chain
        self.privateKey = privateKey
    }

    /// Does not show the key.
    package var description: String { "a client certificate" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
