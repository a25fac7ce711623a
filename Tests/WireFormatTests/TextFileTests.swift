// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@testable import WireFormat

@Suite struct TextFileTests {
    private static func utf16(_ text: String, isLittleEndian: Bool, isMarked: Bool = true) -> [UInt8] {
        ((isMarked ? "\u{FEFF}" : "") + text).utf16.flatMap { unit in
            isLittleEndian ? [UInt8(unit & 255), UInt8(unit >> 8)] : [UInt8(unit >> 8), UInt8(unit & 255)]
        }
    }

    @Test(arguments: ["whsec_abc", "{\"version\": \"版本 🎉\"}", ""])
    func `A text is the same however an editor wrote it`(text: String) throws {
        let plain = Array(text.utf8)
        for bytes in [
            plain, [0xEF, 0xBB, 0xBF] + plain, Self.utf16(text, isLittleEndian: true),
            Self.utf16(text, isLittleEndian: false), Self.utf16(text, isLittleEndian: true, isMarked: false),
            Self.utf16(text, isLittleEndian: false, isMarked: false),
        ] {
            #expect(try TextFile.utf8(bytes) == plain, "\(bytes.prefix(8))")
        }
    }

    @Test func `What a mark promises and does not keep is named`() {
        func fault(_ bytes: [UInt8]) -> String? {
            #expect(throws: TextFile.Fault.self) { try TextFile.utf8(bytes) }?.description
        }
        #expect(fault([0xFF, 0xFE, 0x41]) == "begins as UTF-16 does and is none; save it as UTF-8")
        #expect(fault([0xFF, 0xFE, 0x00, 0xD8]) == "begins as UTF-16 does and is none; save it as UTF-8")
        #expect(fault([0xFF, 0xFE, 0, 0, 0x41, 0, 0, 0]) == "is written in UTF-32; save it as UTF-8")
    }

    @Test func `Bytes that are no text stay as they are`() throws {
        for bytes: [UInt8] in [[0x80, 0x81, 0xFF], [0x30, 0x82, 0, 1], [0, 1, 2], Array(repeating: 7, count: 33)] {
            #expect(try TextFile.utf8(bytes) == bytes)
        }
    }

    private static let key = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test(arguments: [
        "\"whsec_\(key)\"", "'whsec_\(key)'", "“whsec_\(key)”", "WEBHOOK_SECRET=whsec_\(key)", "Bearer whsec_\(key)",
        " whsec_\(key)",
        "whsec_\(key) ", "\u{FEFF}whsec_\(key)", "\"hunter2hunter2\"", "'hunter2'", "“hunter2”", "SECRET=hunter2",
        "export MY_SECRET=hunter2", "GITHUB_HOOK=hunter2", "password=hunter2", "secret: hunter2", "one\ntwo",
        "one\r\ntwo", "hunter2\u{200B}",
        "hunter2\t", "hun\u{0}ter", "# the secret\nwhsec_\(key)",
    ])
    func `What surrounds a secret is a doubt that shows nothing of it`(text: String) throws {
        let doubt = try #require(SecretText.doubt(Array(text.utf8)))
        #expect(!doubt.contains("hunter2") && !doubt.contains(Self.key), "\(doubt)")
    }

    @Test(arguments: [
        "whsec_\(key)", "hunter2", "correct horse battery staple", "a\"b", "\"begins", "dGVzdA==", "AbCd=", "x=y=",
        "a=b", "sec:ret", "ab'",
        "geheim-schlüssel", "k=v", "AQIDBAUG/+==",
    ])
    func `A secret that is meant so is none`(text: String) {
        #expect(SecretText.doubt(Array(text.utf8)) == nil)
    }

    @Test func `JSON may begin with a byte-order mark, and UTF-16 is named`() throws {
        #expect(try JSONReader.read([0xEF, 0xBB, 0xBF] + Array("{}".utf8)) == .object([]))
        let error = #expect(throws: JSONSyntaxError.self) {
            try JSONReader.read(Self.utf16("{}", isLittleEndian: true))
        }
        #expect(error?.reason == "the text is UTF-16; UTF-8 is needed")
    }
}
