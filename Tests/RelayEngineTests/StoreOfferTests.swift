// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import UpgradeRules

@Suite("A store's offer to one user")
struct StoreOfferTests {
    private static let now = Timestamp(seconds: 1_000_000)

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var evidence: StoreEvidence?
        var kind = StoreKind.googlePlay
        /// The country of the user; nil: not known.
        var country: String?
        var build: Int64? = 200
        var minimum = 1.0
        var blocked: [Version] = []
        var answer: StoreOffer.Answer
        /// The beginning of the reason.
        var why: String

        var audience: AudienceCountries {
            AudienceCountries(known: Set([country].compactMap(\.self)), hasUnknown: country == nil)
        }
    }

    private static func play(_ releases: GooglePlayEvidence.Release...) -> StoreEvidence {
        .googlePlay(GooglePlayEvidence(askedAt: now, track: "production", releases: releases))
    }

    private static func lookup(_ version: String?, ago hours: Int, isDated: Bool = true) -> StoreEvidence {
        let then = now - .seconds(hours * 3600)
        return .appStore(
            LookupEvidence(
                askedAt: now, version: version.flatMap { try? Version($0) }, releasedAt: isDated ? then : nil,
                firstShownAt: then))
    }

    private static func connect(
        _ version: String, _ state: String = AppStoreConnectEvidence.Release.live,
        _ phase: AppStoreConnectEvidence.Phase? = nil
    ) -> StoreEvidence {
        .appStoreConnect(
            AppStoreConnectEvidence(
                askedAt: now,
                releases: (try? Version(version)).map { [.init(version: $0, state: state, phase: phase)] } ?? []))
    }

    private typealias Play = GooglePlayGateTests

    static let rows: [Row] = [
        // Google Play.
        Row(
            testDescription: "not asked yet", answer: .unknown,
            why: "waiting until Google Play offers 2.0.0; Google Play has not answered yet"),
        Row(
            testDescription: "to everybody", evidence: play(Play.old, Play.new(.completed)), answer: .yes,
            why: "Google Play offers 2.0.0 (version code 200) to everybody"),
        Row(
            testDescription: "not there", evidence: play(Play.old), answer: .notYet,
            why: "waiting until Google Play offers 2.0.0 (version code 200); the track"),
        Row(testDescription: "an empty track", evidence: play(), answer: .notYet, why: "waiting until Google Play"),
        Row(
            testDescription: "in review", evidence: play(Play.new(.completed, lifecycle: "IN_REVIEW")),
            answer: .notYet, why: "waiting until Google Play offers 2.0.0 (version code 200); it says"),
        Row(
            testDescription: "a rollout, which may or may not have come to this user",
            evidence: play(Play.old, Play.new(.inProgress, 0.9)), answer: .unknown,
            why: "Google Play offers 2.0.0 (version code 200) to 90 % of users"),
        Row(
            testDescription: "a rollout that is enough for the gate is not for one user",
            evidence: play(Play.new(.inProgress, 0.9)), minimum: 0.2, answer: .unknown,
            why: "Google Play offers 2.0.0 (version code 200) to 90 %"),
        Row(
            testDescription: "a rollout to all", evidence: play(Play.new(.inProgress, 1)), answer: .yes,
            why: "Google Play offers 2.0.0 (version code 200) to 100 %"),
        Row(
            testDescription: "halted", evidence: play(Play.new(.halted, 0.4)), answer: .notYet,
            why: "the rollout of 2.0.0 (version code 200) is halted"),
        Row(
            testDescription: "in the user's country", evidence: play(Play.new(.completed, countries: ["DE", "FR"])),
            country: "DE", answer: .yes, why: "Google Play offers 2.0.0 (version code 200) to everybody in DE, FR"),
        Row(
            testDescription: "not in the user's country",
            evidence: play(Play.new(.completed, countries: ["DE", "FR"])), country: "CN", answer: .notYet,
            why: "Google Play offers 2.0.0 (version code 200) to 100 % of users in DE, FR alone"),
        Row(
            testDescription: "in some countries, and that of the user is not known",
            evidence: play(Play.new(.completed, countries: ["DE"])), answer: .unknown,
            why: "Google Play offers 2.0.0 (version code 200) to 100 % of users in DE alone"),
        Row(
            testDescription: "in countries that are not known",
            evidence: play(Play.new(.completed, countries: [])), country: "DE", answer: .unknown,
            why: "Google Play offers"),
        Row(
            testDescription: "a name without a version, and no version code",
            evidence: play(Play.new(.completed, version: nil)), build: nil, answer: .unknown,
            why: "waiting until Google Play offers 2.0.0; no release"),
        Row(
            testDescription: "a blocked version does not count", evidence: play(Play.new(.completed)),
            blocked: [try? Version("2.0.0")].compactMap(\.self), answer: .notYet,
            why: "waiting until Google Play offers"),
        // The App Store.
        Row(
            testDescription: "the App Store has not answered", kind: .appStore, answer: .unknown,
            why: "waiting until the App Store offers 2.0.0; the App Store has not answered yet"),
        Row(
            testDescription: "two days old", evidence: lookup("2.0.0", ago: 48), kind: .appStore, answer: .yes,
            why: "the App Store offers 2.0.0"),
        Row(
            testDescription: "an hour old, so not in every store yet", evidence: lookup("2.0.0", ago: 1),
            kind: .appStore, answer: .unknown, why: "2.0.0 is in the App Store, released at"),
        Row(
            testDescription: "first seen an hour ago", evidence: lookup("2.0.0", ago: 1, isDated: false),
            kind: .appStore, answer: .unknown, why: "2.0.0 is in the App Store, first seen at"),
        Row(
            testDescription: "an older one", evidence: lookup("1.9.0", ago: 48), kind: .appStore, answer: .notYet,
            why: "waiting until the App Store offers 2.0.0; it shows 1.9.0"),
        Row(
            testDescription: "not listed in the country that is asked about", evidence: lookup(nil, ago: 48),
            kind: .appStore, answer: .unknown, why: "waiting until the App Store offers 2.0.0; it shows no version"),
        // App Store Connect.
        Row(
            testDescription: "live", evidence: connect("2.1.0"), kind: .appStoreConnect, answer: .yes,
            why: "App Store Connect says that 2.1.0 is READY_FOR_DISTRIBUTION"),
        Row(
            testDescription: "a phased release is there for all who look",
            evidence: connect("2.0.0", "READY_FOR_DISTRIBUTION", .active),
            kind: .appStoreConnect, answer: .yes, why: "App Store Connect says"),
        Row(
            testDescription: "a paused one may not be", evidence: connect("2.0.0", "READY_FOR_DISTRIBUTION", .paused),
            kind: .appStoreConnect, answer: .unknown, why: "the phased release of 2.0.0 is paused"),
        Row(
            testDescription: "in review at Apple", evidence: connect("2.0.0", "IN_REVIEW"), kind: .appStoreConnect,
            answer: .notYet,
            why: "waiting until the App Store offers 2.0.0; App Store Connect says that 2.0.0 is IN_REVIEW"),
    ]

    @Test("every kind of evidence, and its word for one user", arguments: rows)
    func offers(row: Row) throws {
        let gate = AvailabilityGate(
            GateQuestion(try Version("2.0.0"), build: row.build, blocked: row.blocked),
            rules: .init(minimumFraction: row.minimum))
        let offer = gate.offer(of: row.kind, row.evidence, to: row.audience, at: Self.now, write: { "@\($0)" })
        #expect(offer.answer == row.answer)
        #expect(offer.why.hasPrefix(row.why), "\(offer.why)")
        #expect(offer.askedAt == row.evidence?.askedAt)
    }

    @Test("a store that cannot be asked keeps its last answer, with the time of it")
    func failing() throws {
        let gate = AvailabilityGate(GateQuestion(try Version("2.0.0"), build: 200), rules: .init())
        let known = gate.offer(
            of: .googlePlay, Self.play(Play.new(.completed)), failure: "HTTP 503",
            to: AudienceCountries(hasUnknown: true),
            at: Self.now + .seconds(60), write: { "@\($0)" })
        #expect(known.answer == .yes && known.askedAt == Self.now)
        let none = gate.offer(
            of: .googlePlay, nil, failure: "HTTP 503", to: AudienceCountries(hasUnknown: true), at: Self.now,
            write: { "@\($0)" })
        #expect(none.answer == .unknown && none.why.hasSuffix("asking Google Play fails: HTTP 503"), "\(none.why)")
    }
}
