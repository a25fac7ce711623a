// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Signing
import TestPeers
import Testing

@Suite(.ownThread) struct CertificateAuthorityTests {
    /// Asks the openssl command, which shares no code with ours beyond the library.
    private func openssl(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    private func verify(_ validity: CertificateValidity, host: String) throws -> (status: Int32, output: String) {
        let now = Int64(Date().timeIntervalSince1970)
        let authority = try CertificateAuthority(validity: .days(1, from: now))
        let issued = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1", "::1"], validity: validity)
        let folder = FileManager.default.temporaryDirectory.appending(path: "signing-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let root = folder.appending(path: "ca.pem")
        let leaf = folder.appending(path: "leaf.pem")
        try Data(authority.certificate).write(to: root)
        try Data(issued.chain).write(to: leaf)
        #expect(try ES256PrivateKey(pem: issued.privateKey).pem == issued.privateKey)
        let check = host.allSatisfy { $0.isNumber || $0 == "." || $0 == ":" } ? "-verify_ip" : "-verify_hostname"
        return try openssl([
            "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", root.path, check, host, leaf.path,
        ])
    }

    private var now: Int64 { Int64(Date().timeIntervalSince1970) }

    @Test(arguments: ["localhost", "127.0.0.1", "::1"])
    func aLeafIsTrustedForItsNames(host: String) throws {
        let answer = try verify(.days(1, from: now), host: host)
        #expect(answer.status == 0, "\(answer.output)")
    }

    @Test func notForAnotherName() throws {
        let answer = try verify(.days(1, from: now), host: "example.org")
        #expect(answer.status != 0)
        #expect(answer.output.contains("hostname mismatch"))
    }

    @Test func anExpiredLeafIsRefused() throws {
        let answer = try verify(.expired(at: now), host: "localhost")
        #expect(answer.status != 0)
        #expect(answer.output.contains("expired"))
    }

    @Test(arguments: [["a,DNS:b"], [""], ["a b"], []])
    func badNames(names: [String]) throws {
        let authority = try CertificateAuthority(validity: .days(1, from: now))
        let error = try #require(throws: SigningError.self) {
            try authority.issue(names: names, validity: .days(1, from: now))
        }
        #expect(error.code == .invalid)
        #expect(error.description.hasSuffix("; such as localhost"))
    }
}
