// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Testing
import UpgradeRules

/// Versions as the registry holds them: UTF-8 in an arena, from any client, and checked nowhere else.
@Suite struct VersionBytesTests {
    @Test(arguments: [
        "", ".", ".1", "1.", "1..2", "v1", "1.2-beta", " 1", "1 ", "1\n", "1,2", "+1", "-1", "1.２", "1.2\u{301}",
        "1.\u{0}",
        "1/2", "1:2", "1000000000000000000", "0.1000000000000000000", "9.x", "9..", "0.x", "1.0.0.é",
        String(repeating: "0", count: 65), String(repeating: "1.", count: 32) + "1",
    ])
    func isNilExactlyForWhatIsNoVersion(text: String) throws {
        #expect(throws: VersionError.self) { try Version(text) }
        for required in ["0", "1", "9", "1.0.0.1"] {
            #expect(Version.isOlder(Array(text.utf8), 0..<text.utf8.count, than: try Version(required)) == nil)
        }
    }

    @Test func isNilForBytesThatAreNoText() throws {
        for bytes in [[0xFF], [0x31, 0xC0], [0x31, 0x2E, 0x80], [0xB1]] as [[UInt8]] {
            #expect(Version.isOlder(bytes, 0..<bytes.count, than: try Version("2")) == nil)
        }
    }

    @Test func agreesWithTheParserOnGeneratedTexts() throws {
        var random = SeededGenerator(seed: 7)
        let alphabet = Array("00112359..x".utf8)
        let required = try ["0", "1", "1.1", "1.0.1", "5.10", "11.2.3", "999999999999999999.9"].map { try Version($0) }
        var versions = 0
        for _ in 0..<20_000 {
            let length = Int(random.next() % 24)
            let bytes = (0..<length).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
            let version = try? Version(String(decoding: bytes, as: UTF8.self))
            if version != nil { versions += 1 }
            for other in required {
                let older = Version.isOlder(bytes, 0..<bytes.count, than: other)
                #expect(older == version.map { $0 < other }, "\(String(decoding: bytes, as: UTF8.self)) and \(other)")
            }
        }
        #expect(versions > 1000, "the alphabet must give versions often enough to test anything")
    }

    @Test func readsOnlyItsOwnRange() throws {
        let arena = Array("9.9.9|1.9.0|x".utf8)
        let two = try Version("2")
        #expect(Version.isOlder(arena, 6..<11, than: two) == true)
        #expect(Version.isOlder(arena, 0..<5, than: two) == false)
        #expect(Version.isOlder(arena, 6..<9, than: try Version("1.9")) == false)
        #expect(Version.isOlder(arena, 6..<12, than: two) == nil, "the separator is not part of a version")
        #expect(Version.isOlder(arena, 6..<6, than: two) == nil, "an empty text is not a version")
    }
}
