// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Reads keys of any kind, with or without a password, for client certificates.
extension EVPKey {
    /// Reads a key without a password, of any kind.
    static func anyPrivateKey(pem: [UInt8]) throws(SigningError) -> EVPKey {
        try unsafe EVPKey(adopting: readPrivateKey(pem))
    }

    /// The key of a PEM block as PKCS#8 without a password.
    static func opened(
        _ pem: [UInt8], password: [UInt8]?, legacyProvider: String
    ) throws(OpeningFailure) -> [UInt8] {
        try unsafe LegacyLibrary.opening(provider: legacyProvider) { library throws(OpeningFailure) in
            try unsafe opened(pem, password, library: library)
        }
    }

    @unsafe
    private static func opened(
        _ pem: [UInt8], _ password: [UInt8]?, library: OpaquePointer?
    ) throws(OpeningFailure) -> [UInt8] {
        guard let memory = Memory(pem) else { throw .damaged(LibraryFailure.taken("no memory for a private key")) }
        let text = password ?? []
        var isAsked = false
        let read = unsafe text.withUnsafeBytes { bytes in
            var secret = unsafe relay_password(
                text: password == nil ? nil : bytes.baseAddress, length: Int32(clamping: bytes.count), asked: 0)
            let key = unsafe relay_PEM_read_bio_PrivateKey_ex(memory.bio, &secret, library)
            isAsked = unsafe secret.asked == 1
            return unsafe key
        }
        guard let read = unsafe read else {
            let isUnsupported = relay_ERR_take_unsupported() == 1
            guard isAsked else {
                throw .damaged(SigningError(.unreadable, "holds a private key that cannot be read: it is damaged"))
            }
            // OpenSSL reports "unsupported" also for content that it cannot make sense of: the legacy provider's attempt decides.
            if isUnsupported, password != nil, unsafe library == nil { throw .needsLegacyProvider }
            throw .wrongPassword(given: password != nil)
        }
        ERR_clear_error()
        do {
            return try unsafe EVPKey(adopting: read).privatePEM()
        } catch {
            throw OpeningFailure(error)
        }
    }
}
