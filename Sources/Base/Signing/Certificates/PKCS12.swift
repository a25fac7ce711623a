// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// The content of a PKCS#12 file (`.p12`, `.pfx`; RFC 7292), in forms that are independent of an OpenSSL library context.
struct PKCS12 {
    /// The certificate that belongs to the key; nil where the file has none.
    var leaf: X509Certificate?
    /// The other certificates.
    var chain: [X509Certificate] = []
    /// PEM, PKCS#8; nil where the file holds no key. A secret.
    var key: [UInt8]?

    /// - Parameters:
    ///   - password: nil or empty: the file is tried without one.
    ///   - legacyProvider: the name of OpenSSL's provider for RC2.
    init(_ der: [UInt8], password: [UInt8]?, legacyProvider: String) throws(OpeningFailure) {
        self = try unsafe LegacyLibrary.opening(provider: legacyProvider) { library throws(OpeningFailure) in
            try unsafe PKCS12(der, password, library: library)
        }
    }

    /// - Parameter library: a library context; nil: the process's own.
    @unsafe
    private init(_ der: [UInt8], _ password: [UInt8]?, library: OpaquePointer?) throws(OpeningFailure) {
        guard let memory = Memory(der), let file = unsafe relay_d2i_PKCS12_bio(memory.bio, library) else {
            ERR_clear_error()
            throw .damaged(
                SigningError(
                    .unreadable,
                    "is neither PEM nor a .p12 nor a certificate in DER; a .p12 from Keychain Access will do, or PEM that has "
                        + "-----BEGIN CERTIFICATE-----"))
        }
        defer { unsafe PKCS12_free(file) }
        // "The encoded form of password is converted from UTF-8" (PKCS12_parse(3)); C ends it at a zero.
        let text = (password ?? []).prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
        let hasPassword = text.count > 1
        if unsafe PKCS12_mac_present(file) == 1 {
            // No password and an empty one are different; files of both kinds exist.
            let isRight =
                unsafe PKCS12_verify_mac(file, text, Int32(text.count - 1)) == 1
                || !hasPassword && PKCS12_verify_mac(file, nil, 0) == 1
            if !isRight {
                if relay_ERR_take_unsupported() == 1 { throw .needsLegacyProvider }
                throw .wrongPassword(given: hasPassword)
            }
        }
        var parsedKey: OpaquePointer?
        var parsedLeaf: OpaquePointer?
        var others: OpaquePointer?
        guard unsafe PKCS12_parse(file, text, &parsedKey, &parsedLeaf, &others) == 1 else {
            let last = ERR_peek_last_error()
            if relay_ERR_take_unsupported() == 1, unsafe library == nil { throw .needsLegacyProvider }
            let why = unsafe ERR_reason_error_string(last).map { unsafe ": \(String(cString: $0))" } ?? ""
            throw .damaged(SigningError(.unreadable, "the .p12 cannot be read\(why)"))
        }
        ERR_clear_error()
        let key = unsafe parsedKey.map { unsafe EVPKey(adopting: $0) }
        leaf = unsafe parsedLeaf.map { unsafe X509Certificate(adopting: $0) }
        defer { unsafe relay_sk_X509_free(others) }
        for place in unsafe 0..<max(0, relay_sk_X509_num(others)) {
            guard let other = unsafe relay_sk_X509_value(others, place), unsafe X509_up_ref(other) == 1 else {
                continue
            }
            unsafe chain.append(X509Certificate(adopting: other))
        }
        do {
            self.key = try key?.privatePEM()
            // Certificates that were read with another library context must not outlive it.
            if unsafe library != nil {
                leaf = try leaf.map { try Self.copy($0) }
                chain = try chain.map { try Self.copy($0) }
            }
        } catch {
            throw OpeningFailure(error)
        }
    }

    private static func copy(_ certificate: X509Certificate) throws -> X509Certificate {
        guard let block = PEMBlock.all(in: try certificate.pem()).first, let copy = X509Certificate(block) else {
            throw SigningError(.failed, "the certificate cannot be copied")
        }
        return copy
    }
}
