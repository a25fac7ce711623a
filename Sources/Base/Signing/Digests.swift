// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// 32 bytes.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let worked = unsafe EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        // EVP_DigestInit(3): 0 means failure. Besides a lack of memory, only a broken configuration can cause it here.
        guard worked == 1 else { fatalError("OpenSSL offers no SHA-256: its configuration is broken") }
        return digest
    }
}

/// SHA-256 of many messages, one after the other. The algorithm is fetched once: fetching it takes longer than digesting a
/// short message (crypto(7), "Performance").
@safe package final class RepeatedSHA256 {
    private let context: OpaquePointer
    private let method: OpaquePointer
    private var digest = [UInt8](repeating: 0, count: 32)

    package init() {
        guard let context = unsafe EVP_MD_CTX_new(), let method = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
            fatalError("OpenSSL offers no SHA-256: its configuration is broken")
        }
        unsafe (self.context, self.method) = (context, method)
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        unsafe EVP_MD_free(method)
    }

    /// Appends the first 16 bytes of the digest.
    package func append16(of bytes: [UInt8], to destination: inout [UInt8]) {
        let worked =
            unsafe EVP_DigestInit_ex2(context, method, nil) == 1
            && EVP_DigestUpdate(context, bytes, bytes.count) == 1 && EVP_DigestFinal_ex(context, &digest, nil) == 1
        guard worked else { fatalError("OpenSSL offers no SHA-256: its configuration is broken") }
        destination.append(contentsOf: digest[..<16])
    }
}

/// HMAC with SHA-256 (RFC 2104, RFC 4231).
package enum HMACSHA256 {
    /// 32 bytes. Any length of key, zero included.
    package static func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        // HMAC(3) takes the key's length as an int; RFC 2104 hashes keys of more than a block (64 bytes) first anyway.
        let key = key.count > 64 ? SHA256.digest(key) : key
        let worked = unsafe HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, nil)
        guard unsafe worked != nil else { fatalError("OpenSSL offers no HMAC-SHA-256: its configuration is broken") }
        return code
    }
}

/// Whether the bytes are the same, in a time that depends on their number only. A difference in length may show.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    // CRYPTO_memcmp(3): "takes an amount of time dependent on len, but independent of the contents".
    return unsafe CRYPTO_memcmp(a, b, a.count) == 0
}

/// Unpredictable bytes from OpenSSL's generator.
package enum RandomBytes {
    /// Throws `SigningError` if the operating system provides no randomness.
    package static func make(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard count > 0 else { return bytes }
        guard unsafe RAND_bytes(&bytes, Int32(count)) == 1 else {
            throw LibraryFailure.taken("random bytes could not be had")
        }
        return bytes
    }
}
