// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import UpgradeRules

@Suite("The availability gate")
struct AvailabilityGateTests {
    static let now = Timestamp(seconds: 1_000_000)
    static let day = Duration.seconds(86_400)

    struct Row: Sendable, CustomTestStringConvertible {
        var required = "2.0.0"
        /// nil: the store has not answered; "": it lists nothing.
        var shown: String?
        /// How long ago it was released; nil: the store gives no date.
        var releasedAgo: Duration?
        var seenAgo = Duration.zero
        var hold = AvailabilityGateTests.day
        var verdict: GateVerdict.State

        var testDescription: String {
            "\(required) against \(shown ?? "nothing"), \(releasedAgo.map { "\($0)" } ?? "undated")"
        }

        var evidence: StoreEvidence? {
            get throws {
                guard let shown else { return nil }
                return .appStore(
                    LookupEvidence(
                        askedAt: now, version: shown.isEmpty ? nil : try Version(shown),
                        releasedAt: releasedAgo.map { now - $0 }, firstShownAt: now - seenAgo))
            }
        }
    }

    static let rows: [Row] = [
        Row(verdict: .closed),
        Row(shown: "", verdict: .closed),
        Row(shown: "1.9.0", releasedAgo: day * 30, verdict: .closed),
        Row(shown: "1.10", releasedAgo: day * 30, verdict: .closed),
        Row(shown: "2.0", releasedAgo: day, verdict: .open),
        Row(shown: "10.0", releasedAgo: day * 2, verdict: .open),
        Row(
            shown: "2.0.0", releasedAgo: day - .seconds(1),
            verdict: .held(until: now + .seconds(1))),
        Row(shown: "2.0.0", releasedAgo: .zero, hold: .zero, verdict: .open),
        // A release in the future, and no hold at all.
        Row(shown: "2.0.0", releasedAgo: .seconds(-60), hold: .zero, verdict: .open),
        Row(
            shown: "2.0.0", releasedAgo: .seconds(-60),
            verdict: .held(until: now + day + .seconds(60))),
        // Where the store does not date it, the first sight counts.
        Row(shown: "2.0.0", seenAgo: day, verdict: .open),
        Row(
            shown: "2.0.0", seenAgo: .seconds(10),
            verdict: .held(until: now + day - .seconds(10))),
    ]

    @Test("when a forced upgrade may be announced", arguments: rows)
    func verdict(_ row: Row) throws {
        let gate = AvailabilityGate(GateQuestion(try Version(row.required)), rules: .init(hold: row.hold))
        let verdict = gate.verdict(of: .appStore, try row.evidence, at: Self.now) { "\($0.seconds)" }
        #expect(verdict.state == row.verdict)
    }

    @Test("a store that cannot be asked is said to fail, and with what")
    func failure() throws {
        let gate = AvailabilityGate(GateQuestion(try Version("2.0.0")), rules: .init(hold: Self.day))
        let verdict = gate.verdict(of: .googlePlay, nil, failure: "HTTP 503", at: Self.now) { "\($0.seconds)" }
        #expect(verdict.reason == "waiting until Google Play offers 2.0.0; asking Google Play fails: HTTP 503")
        #expect(!verdict.isOpen)
    }

    @Test("the reason says what is waited for, and until when")
    func reason() throws {
        let gate = AvailabilityGate(GateQuestion(try Version("2.0.0")), rules: .init(hold: Self.day))
        func text(_ row: Row) throws -> String {
            gate.verdict(of: .appStore, try row.evidence, at: Self.now) { "@\($0.seconds)" }.reason
        }
        #expect(
            try text(Row(verdict: .open))
                == "waiting until the App Store offers 2.0.0; the App Store has not answered yet")
        #expect(
            try text(Row(shown: "1.9.0", verdict: .open))
                == "waiting until the App Store offers 2.0.0; it shows 1.9.0, last asked at @1000000")
        #expect(
            try text(Row(shown: "", verdict: .open))
                == "waiting until the App Store offers 2.0.0; it shows no version, last asked at @1000000")
        #expect(
            try text(Row(shown: "2.0.1", releasedAgo: .seconds(60), verdict: .open))
                == "2.0.1 is in the App Store, released at @999940; the wait ends at @1086340")
    }
}
