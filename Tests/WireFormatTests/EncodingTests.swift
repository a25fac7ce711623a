// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import WireFormat

@Suite struct EncodingTests {
    /// RFC 4648 section 10.
    @Test(arguments: [
        ("", "", ""), ("f", "Zg==", "66"), ("fo", "Zm8=", "666f"), ("foo", "Zm9v", "666f6f"),
        ("foob", "Zm9vYg==", "666f6f62"), ("fooba", "Zm9vYmE=", "666f6f6261"),
        ("foobar", "Zm9vYmFy", "666f6f626172"),
    ])
    func publishedVectors(plain: String, base64: String, hex: String) {
        let bytes = Array(plain.utf8)
        let unpadded = base64.filter { $0 != "=" }
        #expect(Base64.encode(bytes) == base64)
        #expect(Base64.decode(base64) == bytes)
        #expect(Base64URL.encode(bytes) == unpadded)
        #expect(Base64URL.decode(unpadded) == bytes)
        #expect(Hex.encode(bytes) == hex)
        #expect(Hex.decode(hex.uppercased()) == bytes)
    }

    @Test func theAlphabetsDifferInTwoPlaces() {
        let bytes: [UInt8] = [0xfb, 0xff, 0xbf]
        #expect(Base64.encode(bytes) == "+/+/")
        #expect(Base64URL.encode(bytes) == "-_-_")
        #expect(Base64.decode("-_-_") == nil)
        #expect(Base64URL.decode("+/+/") == nil)
    }

    @Test(arguments: ["Zg", "Zg=", "Zg===", "Z===", "=", "====", "Zg==\n", "Z g=", "Zh==", "Zm9=", "Zg==Zg==", "Zm9v="])
    func standardIsStrict(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Z", "Zg==", "Zh", "Zm9", "Zm9v\n", "Zé"])
    func urlIsStrict(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test(arguments: ["0", "0g", "0x", " 0", "000", "é"])
    func hexIsStrict(text: String) {
        #expect(Hex.decode(text) == nil)
    }

    /// Every group of three bytes' ends, and texts of two, three and four characters that are none.
    @Test func base64IsThatOfFoundation() {
        for high in 0...255 as ClosedRange<UInt8> {
            for low in stride(from: 0, through: 255, by: 5) {
                for bytes in [[high], [high, UInt8(low)], [UInt8(low), high, UInt8(low) ^ high]] {
                    #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
                }
            }
        }
        let marks = Array("AZaz09+/=-_ \né")
        for a in marks {
            for b in marks {
                for c in marks {
                    for text in ["\(a)\(b)\(c)", "\(a)\(b)\(c)=", "Zm9v\(a)\(b)\(c)Q", "Zg\(a)\(b)\(c)"] {
                        let data = Data(base64Encoded: text).flatMap { $0.base64EncodedString() == text ? $0 : nil }
                        #expect(Base64.decode(text) == data.map(Array.init), "\(text)")
                    }
                }
            }
        }
    }

    @Test func everyByteSurvives() {
        let bytes = (0...255).map { UInt8($0) }
        for count in 0..<bytes.count {
            let part = Array(bytes[..<count])
            #expect(Base64.decode(Base64.encode(part)) == part)
            #expect(Base64URL.decode(Base64URL.encode(part)) == part)
            #expect(Hex.decode(Hex.encode(part)) == part)
        }
    }
}
