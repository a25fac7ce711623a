// SPDX-License-Identifier: Apache-2.0
import Glibc
import Signing

/// A certificate authority and a server certificate in files, as libcurl and OpenSSL want them.
struct TestIdentity: Sendable {
    let authorityPath: String
    let chainPath: String
    let keyPath: String

    init(names: [String] = ["localhost"], addresses: [String] = ["127.0.0.1"], isExpired: Bool = false) throws {
        let now = Int64(time(nil))
        let authority = try CertificateAuthority(validity: .days(2, from: now))
        let certificate = try authority.issue(
            names: names, addresses: addresses, validity: isExpired ? .expired(at: now) : .days(1, from: now))
        var template = Array("/tmp/http2-tests-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw PeerError("mkdtemp") }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        authorityPath = try Self.write(authority.certificate, to: "\(folder)/authority.pem")
        chainPath = try Self.write(certificate.chain, to: "\(folder)/chain.pem")
        keyPath = try Self.write(certificate.privateKey, to: "\(folder)/key.pem")
    }

    private static func write(_ bytes: [UInt8], to path: String) throws -> String {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else { throw PeerError(path) }
        return path
    }
}
