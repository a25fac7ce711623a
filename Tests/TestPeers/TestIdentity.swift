// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc
import Signing

/// A certificate authority and a server certificate, in files as libcurl and OpenSSL read them.
package struct TestIdentity: Sendable {
    package let authorityPath: String
    package let chainPath: String
    package let keyPath: String

    package init(
        names: [String] = ["localhost"], addresses: [String] = ["127.0.0.1", "::1"], isExpired: Bool = false
    ) throws {
        let now = Int64(time(nil))
        let authority = try CertificateAuthority(validity: .days(2, from: now))
        let certificate = try authority.issue(
            names: names, addresses: addresses, validity: isExpired ? .expired(at: now) : .days(1, from: now))
        let folder = try TestFolder.make()
        authorityPath = try Self.write(authority.certificate, to: "\(folder)/authority.pem")
        chainPath = try Self.write(certificate.chain, to: "\(folder)/chain.pem")
        keyPath = try Self.write(certificate.privateKey, to: "\(folder)/key.pem")
    }

    /// A self-signed certificate for loopback; it is its own authority.
    package static func selfSigned() throws -> TestIdentity {
        let folder = try TestFolder.make()
        let key = relay_EVP_EC_gen_P256()
        let certificate = X509_new()
        defer {
            EVP_PKEY_free(key)
            X509_free(certificate)
        }
        guard let key, let certificate, let chain = BIO_new_file("\(folder)/chain.pem", "w"),
            let keyFile = BIO_new_file("\(folder)/key.pem", "w")
        else { throw PeerError("OpenSSL") }
        defer {
            BIO_free(chain)
            BIO_free(keyFile)
        }
        let name = X509_get_subject_name(certificate)
        // MBSTRING_UTF8 is 0x1000.
        guard X509_set_version(certificate, 2) == 1, ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1,
            X509_gmtime_adj(X509_getm_notBefore(certificate), -60) != nil,
            X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400) != nil,
            X509_NAME_add_entry_by_txt(name, "CN", 0x1000, "localhost", -1, -1, 0) == 1,
            X509_set_issuer_name(certificate, name) == 1, X509_set_pubkey(certificate, key) == 1,
            relay_X509_add_extension(
                certificate, certificate, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1") == 1,
            X509_sign(certificate, key, EVP_sha256()) > 0, PEM_write_bio_X509(chain, certificate) == 1,
            PEM_write_bio_PrivateKey(keyFile, key, nil, nil, 0, nil, nil) == 1
        else { throw PeerError("a self-signed certificate") }
        return TestIdentity(
            authorityPath: "\(folder)/chain.pem", chainPath: "\(folder)/chain.pem", keyPath: "\(folder)/key.pem")
    }

    private init(authorityPath: String, chainPath: String, keyPath: String) {
        self.authorityPath = authorityPath
        self.chainPath = chainPath
        self.keyPath = keyPath
    }

    private static func write(_ bytes: [UInt8], to path: String) throws -> String {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else { throw PeerError(path) }
        return path
    }
}
