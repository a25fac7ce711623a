// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// 32 bytes.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let worked = unsafe EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        // EVP_DigestInit(3): 0 means failure, and with a built-in digest and memory for a context there is none left.
        guard worked == 1 else { fatalError("OpenSSL offers no SHA-256: its configuration is broken") }
        return digest
    }
}

/// HMAC with SHA-256 (RFC 2104, RFC 4231).
package enum HMACSHA256 {
    /// 32 bytes. Any length of key, zero included.
    package static func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        // HMAC(3) takes the key's length as an int; a longer one is hashed first by RFC 2104 anyway.
        let key = key.count > 64 ? SHA256.digest(key) : key
        let worked = unsafe HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, nil)
        guard unsafe worked != nil else { fatalError("OpenSSL offers no HMAC-SHA-256: its configuration is broken") }
        return code
    }
}

/// Whether the bytes are the same, in a time that depends on their number only. That the lengths differ may show.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    // CRYPTO_memcmp(3): "takes an amount of time dependent on len, but independent of the contents".
    return unsafe CRYPTO_memcmp(a, b, a.count) == 0
}

/// Unpredictable bytes from OpenSSL's generator.
package enum RandomBytes {
    /// Throws `SigningError` if the operating system has no randomness to give.
    package static func make(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard count > 0 else { return bytes }
        guard unsafe RAND_bytes(&bytes, Int32(count)) == 1 else {
            throw LibraryFailure.taken("random bytes could not be had")
        }
        return bytes
    }
}
