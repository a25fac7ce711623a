// SPDX-License-Identifier: Apache-2.0
import TestPeers
import Testing

@testable import Signing

/// The forms that editors, shells and files of variables give a PEM text.
@Suite struct PEMTextTests {
    static let ways: [(name: String, change: @Sendable (String) -> String)] = [
        ("as it is", { $0 }), ("a byte-order mark", { "\u{FEFF}" + $0 }),
        ("CR LF", { $0.replacing("\n", with: "\r\n") }), ("CR", { $0.replacing("\n", with: "\r") }),
        ("\\n", { $0.replacing("\n", with: "\\n") }), ("\\r\\n", { $0.replacing("\n", with: "\\r\\n") }),
        ("quotes and \\n", { "\"" + $0.replacing("\n", with: "\\n") + "\"" }),
        ("quotes", { "'" + $0 + "'" }), ("blanks", { $0.replacing("\n", with: " ") }),
        ("nothing between lines", { $0.replacing("\n", with: "") }),
        ("indented", { "  " + $0.replacing("\n", with: "\n  ") }), ("a name", { "APNS_KEY=" + $0 }),
        ("a name, quotes and \\n", { "APNS_KEY=\"" + $0.replacing("\n", with: "\\n") + "\"" }),
        ("words between", { "Bag Attributes\n  friendlyName: x\n" + $0 + "\nthe end" }),
    ]

    @Test(arguments: ways.map(\.name))
    func `A key is read however its text came here`(name: String) throws {
        let way = try #require(Self.ways.first { $0.name == name })
        let key = try ES256PrivateKey.generate()
        let text = way.change(String(decoding: key.pem, as: UTF8.self))
        #expect(try ES256PrivateKey(pem: Array(text.utf8)).publicKey.pem == key.publicKey.pem)
        let publicText = way.change(String(decoding: key.publicKey.pem, as: UTF8.self))
        #expect(try ES256PublicKey(pem: Array(publicText.utf8)).pem == key.publicKey.pem)
    }

    @Test(arguments: ways.map(\.name))
    func `A certificate and its key are read however their text came here`(name: String) throws {
        let way = try #require(Self.ways.first { $0.name == name })
        let files = try PushCertificateFiles()
        let issued = try files.issue()
        let both = way.change(String(decoding: issued.chain + issued.privateKey, as: UTF8.self))
        let expected = try files.read(issued)
        #expect(try PushCertificate(certificate: Array(both.utf8), key: nil, password: nil) == expected)
        let server = try TestIdentity()
        let (chain, key) = (try files.bytes(server.chainPath), try files.bytes(server.keyPath))
        func changed(_ bytes: [UInt8]) -> [UInt8] { Array(way.change(String(decoding: bytes, as: UTF8.self)).utf8) }
        let now = PushCertificateFiles.now
        #expect(
            try ServerIdentity(chain: changed(chain), privateKey: changed(key), at: now)
                == ServerIdentity(chain: chain, privateKey: key, at: now))
    }

    @Test func `UTF-16 is read, and a .p12 in base64 with a mark`() throws {
        let key = try ES256PrivateKey.generate()
        let units = Array("\u{FEFF}\(String(decoding: key.pem, as: UTF8.self))".utf16)
        let bytes = units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        #expect(try ES256PrivateKey(pem: bytes).publicKey.pem == key.publicKey.pem)
    }
}
