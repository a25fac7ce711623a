// SPDX-License-Identifier: Apache-2.0

/// Reads the keys that a configuration names. OpenSSL takes some tenths of a millisecond for each: a caller that reads the
/// same ones repeatedly may supply readers that keep them.
package struct KeyReader: Sendable {
    package typealias ES256 = @Sendable (_ pem: [UInt8]) throws -> ES256PrivateKey
    package typealias Account = @Sendable (_ keyFile: [UInt8]) throws(SigningError) -> GoogleAccount

    package let es256: ES256
    package let account: Account

    package init(
        es256: @escaping ES256 = { try ES256PrivateKey(pem: $0) },
        account: @escaping Account = { bytes throws(SigningError) in try GoogleAccount(keyFile: bytes) }
    ) {
        (self.es256, self.account) = (es256, account)
    }
}
