// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A P-256 key that signs: ECDSA with SHA-256 in JOSE's form (RFC 7518 section 3.4). Safe to use from any thread; a
/// signature costs about 20 microseconds.
package final class ES256PrivateKey: Sendable {
    let key: EVPKey
    /// PKCS#8 in PEM, as Apple's `.p8` files are. A secret: keep it out of logs.
    package let pem: [UInt8]
    package let publicKey: ES256PublicKey

    /// Reads PKCS#8 or the older "EC PRIVATE KEY" form. Throws `SigningError`.
    package convenience init(pem: [UInt8]) throws {
        try self.init(EVPKey.privateKey(pem: pem, .p256))
    }

    private init(_ key: EVPKey) throws {
        self.key = key
        self.pem = try key.privatePEM()
        self.publicKey = try ES256PublicKey(key)
    }

    package static func generate() throws -> ES256PrivateKey {
        try ES256PrivateKey(EVPKey.generate(.p256))
    }

    /// 64 bytes: R then S, each 32 bytes big-endian (RFC 7518 section 3.4). Differs each time.
    package func sign(_ message: [UInt8]) throws -> [UInt8] {
        guard let raw = ECDSASignature.raw(fromDER: try key.sign(message)) else {
            throw LibraryFailure.taken("the signature has an unexpected form")
        }
        return raw
    }
}

/// A P-256 key that verifies. Safe to use from any thread; a verification costs about 60 microseconds.
package final class ES256PublicKey: Sendable {
    private let key: EVPKey
    /// SubjectPublicKeyInfo in PEM.
    package let pem: [UInt8]

    /// Throws `SigningError`.
    package convenience init(pem: [UInt8]) throws {
        try self.init(EVPKey.publicKey(pem: pem, .p256))
    }

    /// Also takes a key with its private half: only the public half is used.
    fileprivate init(_ key: EVPKey) throws {
        self.key = key
        self.pem = try key.publicPEM()
    }

    /// `signature` is R then S, 64 bytes; anything else, DER included, is not valid.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let der = ECDSASignature.der(fromRaw: signature) else { return false }
        return key.isValid(der, for: message)
    }
}

/// The two spellings of an ECDSA signature: OpenSSL's DER and JOSE's fixed 64 bytes.
enum ECDSASignature {
    static func raw(fromDER der: [UInt8]) -> [UInt8]? {
        let parsed = unsafe der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &cursor, bytes.count)
        }
        guard let signature = unsafe parsed else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: 64)
        let padded = unsafe raw.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            // BN_bn2binpad(3) pads on the left with zeros, which is where hand-written conversions go wrong.
            return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + 32, 32) == 32
        }
        return padded ? raw : nil
    }

    static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 64, let signature = unsafe ECDSA_SIG_new() else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        let r = unsafe BN_bin2bn(Array(raw[..<32]), 32, nil)
        let s = unsafe BN_bin2bn(Array(raw[32...]), 32, nil)
        // ECDSA_SIG_set0(3) takes ownership of both, only if it succeeds; it fails only if one is NULL.
        guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
            unsafe BN_free(r)
            unsafe BN_free(s)
            return nil
        }
        // Two integers of 33 bytes at most with their headers, and the header of the sequence.
        var der = [UInt8](repeating: 0, count: 80)
        let length = unsafe der.withUnsafeMutableBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return unsafe i2d_ECDSA_SIG(signature, &cursor)
        }
        return length > 0 ? Array(der.prefix(Int(length))) : nil
    }
}
