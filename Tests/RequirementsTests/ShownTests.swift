// SPDX-License-Identifier: Apache-2.0
import Requirements
import Testing
import UpgradeRules

/// The facts that were shown, compared with the present ones.
@Suite("What was shown") struct ShownTests {
    private static func changes(_ fact: Shown.Fact, _ shown: Shown.Value, _ now: Shown.Value) -> [Shown.Change] {
        Shown([fact: shown]).changes(to: Shown([fact: now]))
    }

    @Test("Numbers of devices agree within a tenth, all others exactly", arguments: Shown.Fact.allCases)
    func numbers(fact: Shown.Fact) {
        for (shown, now) in [(1000, 1000), (0, 0), (7, 7)] as [(Int64, Int64)] {
            #expect(Self.changes(fact, .number(shown), .number(now)).isEmpty)
        }
        for (shown, now) in [(1000, 1100), (1000, 900), (10, 11), (10, 9)] as [(Int64, Int64)] {
            #expect(Self.changes(fact, .number(shown), .number(now)).isEmpty == (fact == .devices))
        }
        for (shown, now) in [(1000, 1101), (1000, 899), (9, 10), (0, 1), (300, 0), (.max, 0), (0, .max)]
            as [(Int64, Int64)]
        {
            #expect(
                Self.changes(fact, .number(shown), .number(now)) == [
                    Shown.Change(fact: fact, shown: .number(shown), now: .number(now))
                ])
        }
        #expect(Self.changes(fact, .nothing, .number(0)).count == 1)
        #expect(Self.changes(fact, .number(0), .nothing).count == 1)
        #expect(Self.changes(fact, .nothing, .nothing).isEmpty)
    }

    @Test("Texts agree byte for byte, versions as versions do")
    func texts() {
        #expect(Self.changes(.version, .text("2"), .text("2.0.0")).isEmpty)
        #expect(Self.changes(.version, .text("2"), .text("2.0.1")).count == 1)
        for other in ["138 ", " 138", "138\t", "", "１38", "138\u{200B}"] {
            #expect(Self.changes(.text, .text("138"), .text(other)).count == 1, "\(other)")
        }
        #expect(Self.changes(.text, .text("caf\u{E9}"), .text("cafe\u{301}")).count == 1)
    }

    @Test("What is left out goes by whatever is there, and what is gone is nothing")
    func leftOut() {
        #expect(Shown().changes(to: Shown([.version: .text("2.0")])).isEmpty)
        #expect(
            Shown([.version: .text("2.0")]).changes(to: Shown()) == [
                Shown.Change(fact: .version, shown: .text("2.0"), now: .nothing)
            ])
        #expect(Shown([.version: .nothing]).changes(to: Shown()).isEmpty)
    }

    @Test("Each act is shown something, and none the same twice")
    func acts() {
        for act in ActKind.allCases {
            #expect(!act.facts.isEmpty && Set(act.facts).count == act.facts.count, "\(act)")
        }
        #expect(Set(ActKind.allCases.flatMap(\.facts)) == Set(Shown.Fact.allCases))
    }
}
