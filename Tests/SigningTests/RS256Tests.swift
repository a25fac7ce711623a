// SPDX-License-Identifier: Apache-2.0
import Testing
import WireFormat

@testable import Signing

@Suite struct RS256Tests {
    /// RFC 7515 appendix A.2: the modulus (its exponent is 65537), the signing input, the signature.
    static let modulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgN"
        + "MsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665x"
        + "smtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXp"
        + "oQ"
    static let input =
        "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
        + "cnVlfQ"
    static let signature =
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1"
        + "dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jz"
        + "DwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQG"
        + "e77Rw"

    static func publicKey() throws -> EVPKey {
        // The fixed head of an RSA SubjectPublicKeyInfo of 2048 bits (RFC 3279 section 2.3.1), the modulus, the exponent.
        let head = try #require(
            Hex.decode("30820122300d06092a864886f70d01010105000382010f003082010a0282010100"))
        let key = try head + #require(Base64URL.decode(modulus)) + [0x02, 0x03, 0x01, 0x00, 0x01]
        let text = Array(Base64.encode(key))
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
        let pem = "-----BEGIN PUBLIC KEY-----\n" + lines.joined(separator: "\n") + "\n-----END PUBLIC KEY-----\n"
        return try EVPKey.publicKey(pem: Array(pem.utf8), .rsa)
    }

    @Test func verifiesThePublishedVector() throws {
        let key = try Self.publicKey()
        var signature = try #require(Base64URL.decode(Self.signature))
        #expect(key.isValid(signature, for: Array(Self.input.utf8)))
        #expect(!key.isValid(signature, for: Array((Self.input + "x").utf8)))
        signature[40] ^= 1
        #expect(!key.isValid(signature, for: Array(Self.input.utf8)))
        #expect(!key.isValid([], for: Array(Self.input.utf8)))
    }

    @Test func signsWhatItVerifiesAndSurvivesItsPEM() throws {
        let key = try RS256PrivateKey.generate()
        let signature = try key.sign([1, 2, 3])
        #expect(signature.count == 256)
        #expect(try RS256PrivateKey(pem: key.pem).isValid(signature, for: [1, 2, 3]))
        // RSASSA-PKCS1-v1_5 has no randomness.
        #expect(try RS256PrivateKey(pem: key.pem).sign([1, 2, 3]) == signature)
        #expect(!(try Self.publicKey().isValid(signature, for: [1, 2, 3])))
    }

    @Test(arguments: [
        ("", "no private key found"),
        (TestKeys.rsa, "an RSA key of 1024 bits is too short; RS256 needs"),
        (TestKeys.p384, "not an RSA key: it is EC"),
        (TestKeys.ed25519, "not an RSA key: it is ED25519"),
        (TestKeys.encryptedP256, "password"),
    ])
    func saysWhatIsWrongWithAKey(pem: String, text: String) throws {
        let error = try #require(throws: SigningError.self) { try RS256PrivateKey(pem: Array(pem.utf8)) }
        #expect(error.description.contains(text), "\(error)")
    }

    @Test func aKeyOfTheOtherKindIsRefused() throws {
        let ec = try ES256PrivateKey.generate()
        #expect(throws: SigningError.self) { try EVPKey.publicKey(pem: ec.publicKey.pem, .rsa) }
        let wrong = #expect(throws: SigningError.self) { try RS256PrivateKey(pem: ec.pem) }
        #expect(wrong?.code == .wrongKind)
    }
}
