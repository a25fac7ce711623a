// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Testing
import UpgradeRules

@Suite struct VersionTests {
    // MARK: Reading

    @Test(
        arguments: [
            ("0", [0], "0"),
            ("00", [0], "0"),
            ("0.0.0", [0], "0"),
            ("1", [1], "1"),
            ("1.0", [1], "1"),
            ("2.0.0", [2], "2"),
            ("1.01", [1, 1], "1.1"),
            ("1.10", [1, 10], "1.10"),
            ("0.0.1", [0, 0, 1], "0.0.1"),
            ("1.0.1.0", [1, 0, 1], "1.0.1"),
            ("007.008", [7, 8], "7.8"),
            ("2026.11.20.1", [2026, 11, 20, 1], "2026.11.20.1"),
            ("999999999999999999", [999_999_999_999_999_999], "999999999999999999"),
            ("0000000000000000000000999999999999999999.1", [999_999_999_999_999_999, 1], "999999999999999999.1"),
        ] as [(String, [UInt64], String)])
    func reads(text: String, segments: [UInt64], canonical: String) throws {
        let version = try Version(text)
        #expect(version.segments == segments)
        #expect(version.canonical == canonical)
        #expect(version.text == text, "the text is kept as it was given")
        #expect(version.description == text)
    }

    @Test(
        arguments: [
            ("", .empty),
            (".", .emptySegment(offset: 0)),
            (".1", .emptySegment(offset: 0)),
            ("1..2", .emptySegment(offset: 2)),
            ("1.", .emptySegment(offset: 2)),
            ("1.2.", .emptySegment(offset: 4)),
            ("v1.2", .badCharacter("v", offset: 0)),
            ("1.2-beta", .badCharacter("-", offset: 3)),
            ("1.2 ", .badCharacter(" ", offset: 3)),
            (" 1.2", .badCharacter(" ", offset: 0)),
            ("1.2\n", .badCharacter("\n", offset: 3)),
            ("1.2\r\n", .badCharacter("\r\n", offset: 3)),
            ("1,2", .badCharacter(",", offset: 1)),
            ("+1", .badCharacter("+", offset: 0)),
            ("-1", .badCharacter("-", offset: 0)),
            ("1.\u{0}", .badCharacter("\u{0}", offset: 2)),
            ("1.２", .badCharacter("２", offset: 2)),
            ("1.٢", .badCharacter("٢", offset: 2)),
            ("1.²", .badCharacter("²", offset: 2)),
            ("1.2\u{301}", .badCharacter("2\u{301}", offset: 2)),
            ("1.👍🏽.x", .badCharacter("👍🏽", offset: 2)),
            ("1.2:3", .badCharacter(":", offset: 3)),
            ("1.2/3", .badCharacter("/", offset: 3)),
            ("1000000000000000000", .segmentTooLarge(offset: 18)),
            ("1.0001000000000000000000", .segmentTooLarge(offset: 23)),
            (String(repeating: "1.", count: 32) + "1", .tooLong),
            (String(repeating: "0", count: 65), .tooLong),
            (String(repeating: "é", count: 40), .badCharacter("é", offset: 0)),
        ] as [(String, VersionError.Problem)])
    func refuses(text: String, problem: VersionError.Problem) {
        #expect(throws: VersionError(text: text, problem: problem)) { try Version(text) }
    }

    @Test func takesExactlySixtyFourCharacters() throws {
        let longest = String(repeating: "1.", count: 31) + "12"
        #expect(longest.utf8.count == Version.maximumLength)
        #expect(try Version(longest).segments.count == 32)
        #expect(try Version(String(repeating: "0", count: 64)).segments == [0])
    }

    @Test(arguments: [
        ("", "a version is needed, such as 2.1.0; it was empty"),
        ("1.x", #""1.x" is not a version: "x" at position 3 is neither a digit nor a dot"#),
        ("1.2\n", #""1.2\n" is not a version: "\n" at position 4 is neither a digit nor a dot"#),
        ("1..2", #""1..2" is not a version: a number is missing at position 3"#),
        ("1.", #""1." is not a version: a number is missing at position 3"#),
        (
            "1234567890123456789",
            #""1234567890123456789" is not a version: the number at position 19 has more than 18 digits"#
        ),
        (String(repeating: "1.", count: 40) + "0", "a version has at most 64 characters; this one has 81"),
        (
            "x" + String(repeating: "1", count: 1000),
            "\"x" + String(repeating: "1", count: 63)
                + "…\" is not a version: \"x\" at position 1 is neither a digit nor a dot"
        ),
    ])
    func saysWhatIsWrong(text: String, sentence: String) throws {
        let error = try #require(throws: VersionError.self) { try Version(text) }
        #expect(error.description == sentence)
    }

    /// A character may be any number of scalars long.
    @Test(arguments: [
        "x" + String(repeating: "\u{301}", count: 50_000), "1" + String(repeating: "\u{301}", count: 50_000),
    ])
    func staysShort(text: String) throws {
        let error = try #require(throws: VersionError.self) { try Version(text) }
        #expect(error.description.utf8.count < 400, "\(error.description.utf8.count) bytes")
    }

    // MARK: Comparing

    /// Older first; versions on one line are equal.
    static let ladder: [[String]] = [
        ["0", "0.0", "00.000.0"],
        ["0.0.1"],
        ["0.1", "0.01", "0.1.0"],
        ["0.9"],
        ["0.10"],
        ["1", "1.0", "01", "1.0.0.0.0"],
        ["1.0.0.1"],
        ["1.1", "1.01", "1.1.0", "01.001.0000"],
        ["1.1.1"],
        ["1.9"],
        ["1.9.99"],
        ["1.10", "1.10.0"],
        ["2", "2.0", "2.0.0"],
        ["9.0"],
        ["10.0"],
        ["999999999999999999"],
        ["999999999999999999.0.1"],
    ]

    @Test func ordersAsNumbersSegmentBySegment() throws {
        let rungs = Self.ladder.enumerated().flatMap { height, texts in texts.map { (height, $0) } }
        for (leftHeight, leftText) in rungs {
            for (rightHeight, rightText) in rungs {
                let (left, right) = (try Version(leftText), try Version(rightText))
                let pair = Comment(rawValue: "\(leftText) and \(rightText)")
                #expect((left == right) == (leftHeight == rightHeight), pair)
                #expect((left < right) == (leftHeight < rightHeight), pair)
                #expect((left > right) == (leftHeight > rightHeight), pair)
                let older = Version.isOlder(Array(leftText.utf8), 0..<leftText.utf8.count, than: right)
                #expect(older == (leftHeight < rightHeight), pair)
                if leftHeight == rightHeight { #expect(left.hashValue == right.hashValue, pair) }
            }
        }
        #expect(Set(try rungs.map { try Version($0.1) }).count == Self.ladder.count)
    }

    @Test func keepsATotalOrder() throws {
        var random = SeededGenerator(seed: 2015)
        let versions = try (0..<300).map { _ in try Version(Self.text(using: &random)) }
        for left in versions {
            for right in versions {
                let truths = [left < right, left == right, left > right].count { $0 }
                #expect(truths == 1, "\(left) and \(right)")
                if left == right {
                    #expect(left.hashValue == right.hashValue)
                    #expect(left.canonical == right.canonical)
                }
                let bytes = Array(left.text.utf8)
                #expect(Version.isOlder(bytes, 0..<bytes.count, than: right) == (left < right), "\(left) and \(right)")
            }
        }
        for _ in 0..<20_000 {
            let three = (0..<3).map { _ in versions[Int(random.next() % 300)] }
            if three[0] <= three[1] && three[1] <= three[2] {
                #expect(three[0] <= three[2], "\(three)")
            }
        }
        let sorted = versions.sorted()
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0 <= $1 })
        for version in versions {
            let again = try Version(version.canonical)
            #expect(again == version && again.canonical == version.canonical)
        }
    }

    /// One to five segments, mostly small, with leading zeros now and then, so that many are equal or nearly so.
    private static func text(using random: inout SeededGenerator) -> String {
        (0...Int(random.next() % 5)).map { _ in
            let zeros = String(repeating: "0", count: Int(random.next() % 3))
            let number = random.next() % 8 == 0 ? random.next() % 1_000_000_000_000_000_000 : random.next() % 3
            return zeros + String(number)
        }
        .prefix(3).joined(separator: ".")
    }
}
