// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import UpgradeRules

@Suite("The gate of Google Play")
struct GooglePlayGateTests {
    typealias Release = GooglePlayEvidence.Release

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var releases: [Release]
        var build: Int64? = 200
        var minimum = 1.0
        var state: GateVerdict.State
        var reason: String
        /// Whether an edit must tell how far the rollout is.
        var hangs = false
    }

    static let old = Release(build: 190, version: try? Version("1.9.0"), status: .completed, fraction: 1)

    static func new(
        _ status: GooglePlayEvidence.Status, _ fraction: Double = 1, version: String? = "2.0.0",
        lifecycle: String = Release.published, isForSomeCountries: Bool = false
    ) -> Release {
        Release(
            build: 200, version: version.flatMap { try? Version($0) }, status: status, fraction: fraction,
            lifecycle: lifecycle, isForSomeCountries: isForSomeCountries)
    }

    static let rows: [Row] = [
        Row(
            testDescription: "an empty track", releases: [], state: .closed,
            reason:
                #"waiting until Google Play offers 2.0.0 (version code 200); the track "production" is empty, last asked at @1000000"#
        ),
        Row(
            testDescription: "not there", releases: [old], state: .closed,
            reason:
                #"waiting until Google Play offers 2.0.0 (version code 200); the track "production" has version code 190, last asked at @1000000"#
        ),
        Row(
            testDescription: "in review, which the edit calls completed",
            releases: [old, new(.completed, lifecycle: "IN_REVIEW")], state: .closed,
            reason:
                "waiting until Google Play offers 2.0.0 (version code 200); it says that 2.0.0 (version code 200) is IN_REVIEW, last asked at @1000000"
        ),
        Row(
            testDescription: "10 %", releases: [old, new(.inProgress, 0.1)], state: .closed,
            reason:
                "Google Play offers 2.0.0 (version code 200) to 10 % of users; waiting for 100 %, last asked at @1000000",
            hangs: true),
        Row(
            testDescription: "49.9 % of 50 %", releases: [old, new(.inProgress, 0.499)], minimum: 0.5, state: .closed,
            reason:
                "Google Play offers 2.0.0 (version code 200) to 49.9 % of users; waiting for 50 %, last asked at @1000000",
            hangs: true),
        Row(
            testDescription: "50 % of 50 %", releases: [old, new(.inProgress, 0.5)], minimum: 0.5, state: .open,
            reason: "Google Play offers 2.0.0 (version code 200) to 50 %", hangs: true),
        Row(
            testDescription: "90 % in some countries",
            releases: [old, new(.inProgress, 0.9, isForSomeCountries: true)],
            minimum: 0.5, state: .closed,
            reason:
                "Google Play offers 2.0.0 (version code 200) to 90 % of users in some countries; waiting for 50 % everywhere, last asked at @1000000",
            hangs: true),
        Row(
            testDescription: "100 %", releases: [new(.completed)], state: .open,
            reason: "Google Play offers 2.0.0 (version code 200) to everybody"),
        Row(
            testDescription: "halted", releases: [old, new(.halted, 0.2)], minimum: 0.1, state: .halted,
            reason:
                "the rollout of 2.0.0 (version code 200) is halted in Google Play, at 20 % of users; waiting until it goes on, last asked at @1000000",
            hangs: true),
        Row(
            testDescription: "halted, and mended by a newer one",
            releases: [
                new(.halted, 0.2), Release(build: 201, version: nil, status: .completed, fraction: 1),
            ], state: .open, reason: "Google Play offers version code 201 to everybody"),
        Row(
            testDescription: "by name", releases: [old, new(.completed)], build: nil, state: .open,
            reason: "Google Play offers 2.0.0 (version code 200) to everybody"),
        Row(
            testDescription: "the code of an earlier requirement", releases: [old], build: 190, state: .closed,
            reason:
                "waiting until Google Play offers 2.0.0; 1.9.0 (version code 190) is older by its name: announce 2.0.0 with its own version code (--required-build) or name the release so, last asked at @1000000"
        ),
        Row(
            testDescription: "the code of an earlier requirement, and a release that meets it by name",
            releases: [old, new(.completed)], build: 190, state: .open,
            reason: "Google Play offers 2.0.0 (version code 200) to everybody"),
        Row(
            testDescription: "without a code and without names", releases: [new(.completed, version: nil)], build: nil,
            state: .closed,
            reason:
                #"waiting until Google Play offers 2.0.0; no release on the track "production" has a name that holds a version: announce it with --required-build, last asked at @1000000"#
        ),
    ]

    @Test("when a requirement may be announced", arguments: rows)
    func verdict(_ row: Row) throws {
        let now = Timestamp(seconds: 1_000_000)
        let evidence = GooglePlayEvidence(askedAt: now, track: "production", releases: row.releases)
        let question = GateQuestion(try Version("2.0.0"), build: row.build)
        let gate = AvailabilityGate(question, rules: .init(minimumFraction: row.minimum))
        let verdict = gate.verdict(of: .googlePlay, .googlePlay(evidence), at: now) { "@\($0.seconds)" }
        #expect(verdict == GateVerdict(row.state, row.reason))
        #expect(evidence.hangsOnRollout(question) == row.hangs)
    }

    @Test("what everybody is offered is what is published and completed")
    func offered() {
        func offered(_ releases: [Release]) -> Int64? {
            GooglePlayEvidence(askedAt: Timestamp(seconds: 0), track: "beta", releases: releases).offeredToAll?.build
        }
        #expect(offered([Self.old, Self.new(.inProgress, 0.99)]) == 190)
        #expect(offered([Self.old, Self.new(.completed, lifecycle: "IN_REVIEW")]) == 190)
        #expect(offered([Self.old, Self.new(.completed)]) == 200)
        #expect(offered([Self.new(.halted)]) == nil)
    }
}
