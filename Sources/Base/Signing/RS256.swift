// SPDX-License-Identifier: Apache-2.0

/// An RSA key that signs: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 section 3.3). Safe to use from any thread; a signature
/// costs about a millisecond.
package final class RS256PrivateKey: Sendable {
    private let key: EVPKey
    /// PKCS#8 in PEM. A secret: keep it out of logs.
    package let pem: [UInt8]

    /// Reads PKCS#8 or the older "RSA PRIVATE KEY" form. Throws `SigningError`.
    package convenience init(pem: [UInt8]) throws {
        try self.init(EVPKey.privateKey(pem: pem, .rsa))
    }

    private init(_ key: EVPKey) throws {
        self.key = key
        pem = try key.privatePEM()
    }

    /// Makes a key of 2048 bits.
    package static func generate() throws -> RS256PrivateKey {
        try RS256PrivateKey(EVPKey.generate(.rsa))
    }

    /// As many bytes as the modulus has. The same each time.
    package func sign(_ message: [UInt8]) throws -> [UInt8] {
        try key.sign(message)
    }

    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        key.isValid(signature, for: message)
    }
}
