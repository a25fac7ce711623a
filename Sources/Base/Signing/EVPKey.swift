// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// The only owner of an `EVP_PKEY`, of the kind that its user needs.
///
/// `@unchecked Sendable` because the pointer is a `let`, the key is never changed after `init`, and each call makes its
/// own `EVP_MD_CTX`. openssl-threads(7): "Objects are thread-safe as long as the API's being invoked don't modify the
/// object", and "updates to an object's internal state, such as cached values, are done with locks": the cached
/// provider key of an EVP_PKEY is such a value.
@safe
final class EVPKey: @unchecked Sendable {
    private let key: OpaquePointer

    enum Kind {
        /// For ES256.
        case p256
        /// For RS256.
        case rsa
    }

    /// Takes ownership of `key`. Throws for a key of another kind, which it frees.
    private init(owning key: OpaquePointer, _ kind: Kind) throws {
        unsafe self.key = key
        switch kind {
        case .p256: try requireP256()
        case .rsa: try requireRSA()
        }
    }

    /// Takes ownership of `key`, of any kind.
    init(adopting key: OpaquePointer) {
        unsafe self.key = key
    }

    private var typeName: String {
        unsafe EVP_PKEY_get0_type_name(key).map { unsafe String(cString: $0) } ?? "of an unknown kind"
    }

    private func requireP256() throws {
        guard unsafe EVP_PKEY_is_a(key, "EC") == 1 else {
            throw SigningError(.wrongKind, "not a P-256 key: it is \(typeName)", hint: Self.hint)
        }
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        let named = unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
        let group = String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard named, group == "prime256v1" else {
            ERR_clear_error()
            throw SigningError(
                .wrongKind, "not a P-256 key: it is on the curve \(named ? group : "of no name")", hint: Self.hint)
        }
    }

    private func requireRSA() throws {
        guard unsafe EVP_PKEY_is_a(key, "RSA") == 1 else {
            throw SigningError(.wrongKind, "not an RSA key: it is \(typeName)", hint: Self.hintRSA)
        }
        // "A key of size 2048 bits or larger MUST be used with these algorithms" (RFC 7518, 3.3).
        let bits = unsafe EVP_PKEY_get_bits(key)
        guard bits >= 2048 else {
            throw SigningError(.wrongKind, "an RSA key of \(bits) bits is too short", hint: Self.hintRSA)
        }
    }

    deinit { unsafe EVP_PKEY_free(key) }

    private static let hint = "ES256 needs an elliptic-curve key on P-256, as Apple's .p8 files hold"
    private static let hintRSA =
        "RS256 needs an RSA key of at least 2048 bits, as the keys of Google's service accounts are"

    static func generate(_ kind: Kind) throws -> EVPKey {
        let made = unsafe kind == .p256 ? relay_EVP_EC_gen_P256() : relay_EVP_RSA_gen_2048()
        guard let key = unsafe made else { throw LibraryFailure.taken("no key could be made") }
        return try unsafe EVPKey(owning: key, kind)
    }

    static func privateKey(pem: [UInt8], _ kind: Kind) throws -> EVPKey {
        try unsafe EVPKey(owning: readPrivateKey(pem), kind)
    }

    /// Reads a key of any kind. The caller frees it.
    static func readPrivateKey(_ file: [UInt8]) throws(SigningError) -> OpaquePointer {
        let pem = PEMText.repaired(file)
        guard let memory = Memory(pem) else { throw LibraryFailure.taken("no memory for a private key") }
        var encrypted: Int32 = 0
        guard let key = unsafe relay_PEM_read_bio_PrivateKey(memory.bio, &encrypted) else {
            if encrypted == 1 {
                ERR_clear_error()
                throw SigningError(
                    .protected, "the private key is protected by a password",
                    hint: "store it without one: openssl pkey -in KEY -out NEW")
            }
            throw Self.unreadable(pem, "private key", header: "-----BEGIN PRIVATE KEY-----")
        }
        return unsafe key
    }

    static func publicKey(pem file: [UInt8], _ kind: Kind) throws -> EVPKey {
        let pem = PEMText.repaired(file)
        guard let memory = Memory(pem) else { throw LibraryFailure.taken("no memory for a public key") }
        guard let key = unsafe relay_PEM_read_bio_PUBKEY(memory.bio) else {
            throw Self.unreadable(pem, "public key", header: "-----BEGIN PUBLIC KEY-----")
        }
        return try unsafe EVPKey(owning: key, kind)
    }

    /// The errors of OpenSSL 3's decoders do not distinguish "no PEM" from "bad content", so this looks for the header itself.
    private static func unreadable(_ pem: [UInt8], _ what: String, header: String) -> SigningError {
        let kind = what == "private key" ? "PRIVATE KEY-----" : "PUBLIC KEY-----"
        let lines = String(decoding: pem, as: UTF8.self).split(whereSeparator: \.isNewline)
        if lines.contains(where: { $0.hasPrefix("-----BEGIN ") && $0.hasSuffix(kind) }) {
            return LibraryFailure.taken(
                "the \(what) cannot be read", code: .unreadable, hint: "it has to begin with \(header)")
        }
        ERR_clear_error()
        return SigningError(
            .unreadable, "no \(what) found: this is not the PEM of one", hint: "it has to begin with \(header)")
    }

    /// PKCS#8, unencrypted: "-----BEGIN PRIVATE KEY-----".
    func privatePEM() throws -> [UInt8] {
        guard let memory = Memory(),
            unsafe PEM_write_bio_PKCS8PrivateKey(memory.bio, key, nil, nil, 0, nil, nil) == 1
        else { throw LibraryFailure.taken("the private key cannot be written as PEM") }
        return memory.contents()
    }

    /// SubjectPublicKeyInfo: "-----BEGIN PUBLIC KEY-----".
    func publicPEM() throws -> [UInt8] {
        guard let memory = Memory(), unsafe PEM_write_bio_PUBKEY(memory.bio, key) == 1
        else { throw LibraryFailure.taken("the public key cannot be written as PEM") }
        return memory.contents()
    }

    /// With SHA-256: ECDSA in DER, or RSASSA-PKCS1-v1_5, which is OpenSSL's default padding (EVP_PKEY_CTX_set_rsa_padding(3)).
    func sign(_ message: [UInt8]) throws -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw LibraryFailure.taken("no memory to sign") }
        defer { unsafe EVP_MD_CTX_free(context) }
        // EVP_PKEY_get_size(3): the largest size of a signature.
        var signature = [UInt8](repeating: 0, count: unsafe Int(EVP_PKEY_get_size(key)))
        var length = signature.count
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw LibraryFailure.taken("the message could not be signed", hint: "is this a private key?") }
        return Array(signature.prefix(length))
    }

    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else {
            ERR_clear_error()
            return false
        }
        // EVP_DigestVerify(3): 1 is the only success; 0 and negative values both leave errors in the queue.
        let answer = unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count)
        ERR_clear_error()
        return answer == 1
    }

    /// Lends the key to a certificate. `body` must not keep the pointer, nor change the key.
    func withPointer<R>(_ body: (OpaquePointer) throws -> R) rethrows -> R {
        try unsafe body(key)
    }
}
