// SPDX-License-Identifier: Apache-2.0
import Signing
import Testing
import WireFormat

@Suite struct ES256Tests {
    /// RFC 7515 appendix A.3: the public key's coordinates, the signing input, the signature.
    static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    static let input =
        "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
        + "cnVlfQ"
    static let signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    static func publicKey() throws -> ES256PublicKey {
        // The fixed head of a P-256 SubjectPublicKeyInfo (RFC 5480 section 2), then the uncompressed point.
        let head = try #require(Hex.decode("3059301306072a8648ce3d020106082a8648ce3d03010703420004"))
        let point = try #require(Base64URL.decode(x)) + #require(Base64URL.decode(y))
        let text = Array(Base64.encode(head + point))
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
        let pem = "-----BEGIN PUBLIC KEY-----\n" + lines.joined(separator: "\n") + "\n-----END PUBLIC KEY-----\n"
        return try ES256PublicKey(pem: Array(pem.utf8))
    }

    @Test func verifiesThePublishedVector() throws {
        let key = try Self.publicKey()
        var signature = try #require(Base64URL.decode(Self.signature))
        #expect(key.isValid(signature, for: Array(Self.input.utf8)))
        #expect(!key.isValid(signature, for: Array((Self.input + "x").utf8)))
        signature[40] ^= 1
        #expect(!key.isValid(signature, for: Array(Self.input.utf8)))
    }

    @Test func signsWhatItVerifies() throws {
        let key = try ES256PrivateKey.generate()
        let message = Array("header.claims".utf8)
        // Enough rounds that an R or S with leading zeros (1 in 128) is among them.
        for _ in 0..<400 {
            let signature = try key.sign(message)
            #expect(signature.count == 64)
            #expect(key.publicKey.isValid(signature, for: message))
        }
        let stranger = try ES256PrivateKey.generate()
        #expect(!stranger.publicKey.isValid(try key.sign(message), for: message))
    }

    @Test(arguments: [0, 63, 65, 64])
    func refusesOtherForms(length: Int) throws {
        let key = try Self.publicKey()
        #expect(!key.isValid([UInt8](repeating: 0, count: length), for: Array(Self.input.utf8)))
    }

    @Test func survivesItsPEM() throws {
        let key = try ES256PrivateKey.generate()
        let again = try ES256PrivateKey(pem: key.pem)
        #expect(again.publicKey.pem == key.publicKey.pem)
        #expect(key.publicKey.isValid(try again.sign([1, 2, 3]), for: [1, 2, 3]))
        #expect(String(decoding: key.pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(String(decoding: key.publicKey.pem, as: UTF8.self).hasPrefix("-----BEGIN PUBLIC KEY-----\n"))
        #expect(try ES256PublicKey(pem: key.publicKey.pem).pem == key.publicKey.pem)
    }

    @Test func signsFromManyThreads() async throws {
        let key = try ES256PrivateKey.generate()
        let valid = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let message = [UInt8(number)]
                    return key.publicKey.isValid(try key.sign(message), for: message)
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(valid == 64)
    }

    @Test(arguments: [
        ("", "no private key found"),
        ("hello", "has to begin with -----BEGIN PRIVATE KEY-----"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "cannot be read"),
        (TestKeys.rsa, "not a P-256 key: it is RSA"),
        (TestKeys.p384, "secp384r1"),
        (TestKeys.ed25519, "not a P-256 key: it is ED25519"),
        (TestKeys.encryptedP256, "password"),
    ])
    func saysWhatIsWrongWithAKey(pem: String, text: String) throws {
        let error = try #require(throws: SigningError.self) { try ES256PrivateKey(pem: Array(pem.utf8)) }
        #expect(error.description.contains(text), "\(error)")
    }

    @Test func aPublicKeyIsNoPrivateKey() throws {
        let key = try ES256PrivateKey.generate()
        let error = try #require(throws: SigningError.self) { try ES256PrivateKey(pem: key.publicKey.pem) }
        #expect(error.description.hasPrefix("no private key found"))
        #expect(throws: SigningError.self) { try ES256PublicKey(pem: key.pem) }
    }
}
