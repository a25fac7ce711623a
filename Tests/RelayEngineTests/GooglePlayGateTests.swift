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
        /// Where the devices are; nil: not known.
        var audience: AudienceCountries?
        var countries = AvailabilityGate.CountryRule.hold
        var state: GateVerdict.State
        var reason: String
        /// Whether an edit must show how far the rollout is.
        var hangs = false
    }

    static let old = Release(build: 190, version: try? Version("1.9.0"), status: .completed, fraction: 1)

    static func new(
        _ status: GooglePlayEvidence.Status, _ fraction: Double = 1, version: String? = "2.0.0",
        lifecycle: String = Release.published, countries: [String]? = nil
    ) -> Release {
        Release(
            build: 200, version: version.flatMap { try? Version($0) }, status: status, fraction: fraction,
            lifecycle: lifecycle, countries: countries)
    }

    private static let remedy =
        "add the countries in Play Console, send the devices' `country`, or set googlePlay.countries to \"ignore\", last asked at @1000000"

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
            releases: [old, new(.inProgress, 0.9, countries: [])],
            minimum: 0.5, state: .closed,
            reason:
                "Google Play offers 2.0.0 (version code 200) to 90 % of users in some countries alone, and devices whose country is not "
                + "known could not get it; waiting for 50 % everywhere: \(remedy)", hangs: true),
        Row(
            testDescription: "90 % in two countries, and devices elsewhere",
            releases: [old, new(.inProgress, 0.9, countries: ["AT", "DE"])], minimum: 0.5,
            audience: .init(known: ["DE", "FR", "CH"]), state: .closed,
            reason:
                "Google Play offers 2.0.0 (version code 200) to 90 % of users in AT, DE alone, and devices in CH, FR could not get it; "
                + "waiting for 50 % everywhere: \(remedy)", hangs: true),
        Row(
            testDescription: "everybody in two countries, and devices that have not told",
            releases: [old, new(.completed, countries: ["AT", "DE"])],
            audience: .init(known: ["DE", "FR"], hasUnknown: true), state: .closed,
            reason:
                "Google Play offers 2.0.0 (version code 200) to 100 % of users in AT, DE alone, and devices in FR, and some whose "
                + "country is not known could not get it; waiting for 100 % everywhere: \(remedy)", hangs: true),
        Row(
            testDescription: "everybody in two countries, and no device that could tell",
            releases: [old, new(.completed, countries: ["AT", "DE"])], audience: .init(), state: .closed,
            reason:
                "Google Play offers 2.0.0 (version code 200) to 100 % of users in AT, DE alone, and users of whom no device is "
                + "registered could not get it; waiting for 100 % everywhere: \(remedy)", hangs: true),
        Row(
            testDescription: "90 % in two countries, where all devices are",
            releases: [old, new(.inProgress, 0.9, countries: ["AT", "DE"])], minimum: 0.5,
            audience: .init(known: ["DE"]), state: .open,
            reason: "Google Play offers 2.0.0 (version code 200) to 90 % in AT, DE alone", hangs: true),
        Row(
            testDescription: "10 % in two countries, where all devices are",
            releases: [old, new(.inProgress, 0.1, countries: ["AT", "DE"])], minimum: 0.5,
            audience: .init(known: ["AT", "DE"]), state: .closed,
            reason:
                "Google Play offers 2.0.0 (version code 200) to 10 % of users in AT, DE alone; waiting for 50 %, last asked at @1000000",
            hangs: true),
        Row(
            testDescription: "everybody in two countries, and the others do not matter",
            releases: [old, new(.completed, countries: ["AT", "DE"])], audience: .init(hasUnknown: true),
            countries: .ignore, state: .open,
            reason: "Google Play offers 2.0.0 (version code 200) to everybody in AT, DE alone", hangs: true),
        Row(
            testDescription: "everybody in two countries, and half of all everywhere",
            releases: [
                new(.completed, countries: ["AT"]),
                Release(build: 201, version: nil, status: .inProgress, fraction: 0.5),
            ], minimum: 0.5, audience: .init(hasUnknown: true), state: .open,
            reason: "Google Play offers version code 201 to 50 %", hangs: true),
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
        let gate = AvailabilityGate(
            question, rules: .init(minimumFraction: row.minimum, countries: row.countries))
        let verdict = gate.verdict(of: .googlePlay, .googlePlay(evidence), audience: row.audience, at: now) {
            "@\($0.seconds)"
        }
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
        #expect(offered([Self.old, Self.new(.completed, countries: ["DE"])]) == 190)
    }
}
