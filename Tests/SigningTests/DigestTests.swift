// SPDX-License-Identifier: Apache-2.0
import Signing
import Testing
import WireFormat

@Suite struct DigestTests {
    /// FIPS 180-4 examples.
    @Test func sha256() {
        #expect(
            Hex.encode(SHA256.digest([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            Hex.encode(SHA256.digest(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    struct Vector: Sendable {
        var key: [UInt8]
        var message: [UInt8]
        var code: String
    }

    /// RFC 4231 sections 4.2, 4.3, 4.4, 4.7 and 4.8 (the last two have keys longer than a block).
    static let rfc4231 = [
        Vector(
            key: [UInt8](repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        Vector(
            key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 20), message: [UInt8](repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 131),
            message: Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.").utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]

    @Test(arguments: rfc4231)
    func hmac(vector: Vector) {
        #expect(Hex.encode(HMACSHA256.code(vector.message, key: vector.key)) == vector.code)
    }

    @Test func hmacOfGitHub() {
        let code = HMACSHA256.code(Array("Hello, World!".utf8), key: Array("It's a Secret to Everybody".utf8))
        #expect(Hex.encode(code) == "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
    }

    @Test func hmacOfAppStoreConnect() {
        let code = HMACSHA256.code(Array("Hello, World!".utf8), key: Array("This is my secret".utf8))
        #expect(Hex.encode(code) == "7f062172b01cb00b53ca068614674a3d982a34062a0f5d37687d5e3377e54657")
    }

    @Test func hmacWithNothing() {
        #expect(
            Hex.encode(HMACSHA256.code([], key: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func equality() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(!constantTimeEqual([], [0]))
    }

    @Test func randomBytesDiffer() throws {
        #expect(try RandomBytes.make(0).isEmpty)
        #expect(try RandomBytes.make(32).count == 32)
        #expect(try RandomBytes.make(32) != RandomBytes.make(32))
    }
}
