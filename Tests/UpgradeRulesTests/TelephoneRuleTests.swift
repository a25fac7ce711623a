// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import SeedApps
import Testing
import UpgradeRules

@Suite struct TelephoneRuleTests {
    @Test func otherSpellingsOfANumber() {
        for spelt in ["+86 138-0013-8000", "008613800138000", "138 0013 8000", "013800138000"] {
            #expect(TelephoneRule.spellings(of: spelt).contains("13800138000"), "\(spelt)")
        }
        #expect(TelephoneRule.spellings(of: "13800138000") == ["+13800138000", "0013800138000"])
        #expect(TelephoneRule.spellings(of: "x") == [])
        let others = ["139", "+861234", "Optional(+8613900139000)", "013900139000", "00139001390001", "+8613900139000"]
        #expect(
            TelephoneRule.spellings(of: "138 0013 8000", like: others + ["008613900139000", "4407911123456"])
                == [
                    "13800138000", "+13800138000", "0013800138000", "00113800138000", "+8613800138000",
                    "008613800138000",
                    "4413800138000",
                ])
        #expect(TelephoneRule.spellings(of: "07911123456", like: ["+447911000000"]).contains("+447911123456"))
        #expect(!TelephoneRule.spellings(of: "+13800138000", like: others).contains("+8613800138000"))
        let many = (10...99).map { "+\($0)13900139000" }
        #expect(TelephoneRule.spellings(of: "13800138000", like: many).count == 2 + 5, "a bound")
    }

    @Test(arguments: [
        ("13800138000", "13800138000", true),
        ("13800138000", "13800138001", false),
        ("13800138000", "1380013800", false),
        ("1380013800", "13800138000", false),
        ("+8613800138000", "13800138000", false),
        ("8613800138000", "+8613800138000", false),
        ("+86 13800138000", "+8613800138000", false),
        ("138 0013 8000", "13800138000", false),
        ("138-0013-8000", "13800138000", false),
        ("13800138000 ", "13800138000", false),
        (" 13800138000", "13800138000", false),
        ("13800138000\n", "13800138000", false),
        ("13800138000\u{0}", "13800138000", false),
        ("13800138000\u{200B}", "13800138000", false),
        ("\u{FEFF}13800138000", "13800138000", false),
        ("138\u{A0}0013", "138 0013", false),
        ("１３８００１３８０００", "13800138000", false),
        ("١٢٣", "123", false),
        ("013800138000", "13800138000", false),
        // Canonically equivalent, which Swift's == takes for equal:
        ("caf\u{E9}", "cafe\u{301}", false),
        ("\u{212B}", "\u{C5}", false),
        ("\u{1100}\u{1161}", "\u{AC00}", false),
        ("a\u{323}\u{307}", "a\u{307}\u{323}", false),
        ("caf\u{E9}", "caf\u{E9}", true),
        ("📞13800138000", "📞13800138000", true),
        ("📞", "☎️", false),
        ("☎", "☎\u{FE0F}", false),
        ("👍🏽", "👍", false),
        ("User@Example", "user@example", false),
        ("", "", true),
        ("", "13800138000", false),
        ("", " ", false),
    ])
    func comparesLiterally(left: String, right: String, same: Bool) {
        #expect(TelephoneRule.matches(left, right) == same)
        #expect(TelephoneRule.matches(right, left) == same)
        #expect(SeedClient.isEqual(left, right) == same, "the table itself must say what NSString says")
    }

    @Test func someOfTheTableIsEqualToSwift() {
        #expect("caf\u{E9}" == "cafe\u{301}")  // otherwise the table would prove nothing against ==
    }

    @Test func missingOnEitherSideNeverMatches() {
        #expect(!TelephoneRule.matches(nil, "13800138000"))
        #expect(!TelephoneRule.matches("13800138000", nil))
        #expect(!TelephoneRule.matches(nil, nil))
        #expect(!TelephoneRule.matches(nil, ""))
        #expect(!TelephoneRule.matches("", nil))
        #expect(TelephoneRule.matches("", ""), "an empty text is not a missing one")
    }

    /// Bytes and UTF-16 units must give the same answer for any two texts, also astral and unnormalised ones.
    @Test func agreesWithUTF16OnGeneratedTexts() {
        var random = SeededGenerator(seed: 86)
        let pieces = [
            "1", "１", "e", "\u{301}", "\u{E9}", "📞", "\u{FE0F}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10FFFF}",
        ]
        var equal = 0
        for _ in 0..<20_000 {
            let texts = (0..<2).map { _ in
                (0..<Int(random.next() % 3)).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }.joined()
            }
            let same = SeedClient.isEqual(texts[0], texts[1])
            if same { equal += 1 }
            #expect(TelephoneRule.matches(texts[0], texts[1]) == same, "\(texts.map { Array($0.utf16) })")
        }
        #expect(equal > 100)
    }
}
