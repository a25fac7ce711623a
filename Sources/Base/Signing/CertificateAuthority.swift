// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// The time in which a certificate is valid, in seconds since 1970.
package struct CertificateValidity: Hashable, Sendable {
    package var notBefore: Int64
    package var notAfter: Int64

    /// From an hour before `now`, for clocks that disagree, to `days` after it.
    package static func days(_ days: Int64, from now: Int64) -> CertificateValidity {
        CertificateValidity(notBefore: now - 3600, notAfter: now + days * 86_400)
    }
}

/// A certificate with its key, both PEM.
package struct IssuedCertificate: Hashable, Sendable {
    /// The leaf first, then the authority.
    package var chain: [UInt8]
    /// A secret.
    package var privateKey: [UInt8]
}

/// A certificate authority of our own, for the simulator, the demo and tests; not for production.
package struct CertificateAuthority: Sendable {
    /// PEM; clients trust it.
    package let certificate: [UInt8]
    private let key: ES256PrivateKey
    private let name: String

    /// Makes a self-signed authority with a fresh key. Throws `SigningError`.
    package init(name: String = "Upgrade Relay test authority", validity: CertificateValidity) throws {
        self.name = name
        self.key = try ES256PrivateKey.generate()
        self.certificate = try Certificate.pem(
            CertificateContents(
                subject: name, validity: validity,
                extensions: [
                    (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                    (NID_key_usage, "critical,keyCertSign,cRLSign"),
                    (NID_subject_key_identifier, "hash"),
                ]),
            key: key, issuer: name, issuerKey: key, authority: nil)
    }

    /// A server certificate with a fresh key for the given names and addresses. They stand in the subject alternative name: the
    /// common name is ignored (RFC 6125). Throws `SigningError` where none is given, or one is not valid.
    package func issue(
        names: [String], addresses: [String] = [], validity: CertificateValidity
    ) throws -> IssuedCertificate {
        // The extension is given to OpenSSL as a comma-separated text: no name may hold a comma.
        let nameCharacters = Set("abcdefghijklmnopqrstuvwxyz0123456789.-*_".utf8)
        let addressCharacters = Set("0123456789abcdefABCDEF.:".utf8)
        for name in names where name.isEmpty || !name.lowercased().utf8.allSatisfy(nameCharacters.contains) {
            throw SigningError(.invalid, "\"\(name)\" is not a DNS name", hint: "such as localhost")
        }
        for address in addresses where address.isEmpty || !address.utf8.allSatisfy(addressCharacters.contains) {
            throw SigningError(.invalid, "\"\(address)\" is not an IP address", hint: "such as 127.0.0.1")
        }
        guard let first = names.first ?? addresses.first else {
            throw SigningError(.invalid, "a certificate needs a name or an address", hint: "such as localhost")
        }
        let alternatives = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
        return try issue(
            CertificateContents(
                subject: String(first.prefix(64)), validity: validity,
                extensions: [
                    (NID_basic_constraints, "critical,CA:FALSE"),
                    (NID_key_usage, "critical,digitalSignature"),
                    (NID_ext_key_usage, "serverAuth"),
                    (NID_subject_alt_name, alternatives.joined(separator: ",")),
                    (NID_subject_key_identifier, "hash"),
                    (NID_authority_key_identifier, "keyid:always"),
                ]))
    }

    /// A certificate with a fresh key.
    package func issue(_ contents: CertificateContents) throws -> IssuedCertificate {
        let leafKey = try ES256PrivateKey.generate()
        let leaf = try Certificate.pem(contents, key: leafKey, issuer: name, issuerKey: key, authority: certificate)
        return IssuedCertificate(chain: leaf + certificate, privateKey: leafKey.pem)
    }
}

/// The contents of a certificate besides keys.
package struct CertificateContents {
    let subject: String
    let validity: CertificateValidity
    let extensions: [(nid: Int32, value: String)]
    package var userID: String?
    /// Extensions in DER, by dotted identifier.
    package var rawExtensions: [(identifier: String, content: [UInt8])] = []

    package init(subject: String, validity: CertificateValidity, extensions: [(nid: Int32, value: String)]) {
        (self.subject, self.validity, self.extensions) = (subject, validity, extensions)
    }
}

private enum Certificate {
    static func pem(
        _ contents: CertificateContents, key: ES256PrivateKey, issuer: String, issuerKey: ES256PrivateKey,
        authority: [UInt8]?
    ) throws -> [UInt8] {
        guard let certificate = unsafe X509_new() else { throw LibraryFailure.taken("no memory for a certificate") }
        defer { unsafe X509_free(certificate) }
        // RFC 5280 section 4.1.2.2: positive and at most 20 octets; ours is 63 random bits.
        let serial = try RandomBytes.make(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1 | 1
        // X509_set_version(3): 2 stands for version 3, the one with extensions.
        let filled =
            unsafe X509_set_version(certificate, 2) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1
            && ASN1_TIME_set(X509_getm_notBefore(certificate), Int(contents.validity.notBefore)) != nil
            && ASN1_TIME_set(X509_getm_notAfter(certificate), Int(contents.validity.notAfter)) != nil
            && set(contents.subject, X509_get_subject_name(certificate))
            && (contents.userID.map { unsafe set($0, as: "UID", X509_get_subject_name(certificate)) } ?? true)
            && set(issuer, X509_get_issuer_name(certificate))
            && key.key.withPointer { unsafe X509_set_pubkey(certificate, $0) } == 1
        guard filled else { throw LibraryFailure.taken("the certificate of \(contents.subject) cannot be made") }
        // The authority key identifier is copied from the authority's certificate; no other certificate is needed.
        let signer = unsafe authority.flatMap { pem in
            guard let memory = Memory(pem) else { return unsafe OpaquePointer?.none }
            return unsafe PEM_read_bio_X509(memory.bio, nil, nil, nil)
        }
        defer { unsafe X509_free(signer) }
        for (nid, value) in contents.extensions {
            guard unsafe relay_X509_add_extension(certificate, signer ?? certificate, nid, value) == 1 else {
                throw LibraryFailure.taken("the certificate of \(contents.subject) cannot hold \"\(value)\"")
            }
        }
        for (identifier, content) in contents.rawExtensions {
            guard unsafe relay_X509_add_raw_extension(certificate, identifier, content, Int32(content.count)) == 1
            else {
                throw LibraryFailure.taken("the certificate of \(contents.subject) cannot hold \(identifier)")
            }
        }
        guard unsafe issuerKey.key.withPointer({ unsafe X509_sign(certificate, $0, EVP_sha256()) }) > 0,
            let memory = Memory(), unsafe PEM_write_bio_X509(memory.bio, certificate) == 1
        else { throw LibraryFailure.taken("the certificate of \(contents.subject) cannot be signed") }
        return memory.contents()
    }

    private static func set(_ value: String, as field: String = "CN", _ name: OpaquePointer?) -> Bool {
        // MBSTRING_UTF8 is a macro (MBSTRING_FLAG): 0x1000.
        let utf8: Int32 = 0x1000
        let text = Array(value.utf8)
        return unsafe X509_NAME_add_entry_by_txt(name, field, utf8, text, Int32(text.count), -1, 0) == 1
    }
}
