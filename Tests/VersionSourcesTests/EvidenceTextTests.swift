// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import UpgradeRules

@testable import VersionSources

@Suite("What a store said, as text") struct EvidenceTextTests {
    private static let asked = Timestamp(seconds: 1_800_000_000)

    private static let all: [StoreEvidence] = [
        .appStore(LookupEvidence(askedAt: asked, version: nil, releasedAt: nil, firstShownAt: asked)),
        .appStore(
            LookupEvidence(
                askedAt: asked, version: try? Version("2.01.0"), releasedAt: Timestamp(milliseconds: 1),
                firstShownAt: Timestamp(milliseconds: 1_799_999_999_999))),
        .appStoreConnect(AppStoreConnectEvidence(askedAt: asked, releases: [])),
        .appStoreConnect(
            AppStoreConnectEvidence(
                askedAt: asked,
                releases: [nil, .inactive, .active, .paused, .complete].enumerated().map { place, phase in
                    .init(
                        version: Version.zero, state: place == 0 ? "READY_FOR_DISTRIBUTION, but not downloadable" : "A",
                        phase: phase)
                })),
        .googlePlay(GooglePlayEvidence(askedAt: asked, track: "wear:production", releases: [])),
        .googlePlay(
            GooglePlayEvidence(
                askedAt: asked, track: "a \"b\"",
                releases: [
                    .init(build: 0, version: nil, status: .draft, fraction: 0, lifecycle: "IN_REVIEW"),
                    .init(build: 7, version: try? Version("2"), status: .inProgress, fraction: 0.1 + 0.2),
                    .init(
                        build: Int64(Int32.max), version: nil, status: .halted, fraction: 1e-7,
                        countries: ["AT", "DE"], priority: 5,
                        minimumOS: try? Version("29")
                    ), .init(build: 8, version: nil, status: .completed, fraction: 1, countries: [], priority: 0),
                ])),
    ]

    @Test("It is read as it was", arguments: all)
    func same(_ evidence: StoreEvidence) throws {
        let read = try StoreEvidence(evidence.kind, said: evidence.said, askedAt: Self.asked)
        #expect(read == evidence)
        #expect(read.said == evidence.said, "what has not changed is not written again")
        // The time of the question is kept beside it.
        let later = try StoreEvidence(evidence.kind, said: evidence.said, askedAt: Self.asked + .seconds(1))
        #expect(later.askedAt == Self.asked + .seconds(1) && later.said == evidence.said)
    }

    @Test(
        "What is not as it must be is refused by its name",
        arguments: [
            (.appStore, "", "it is not JSON"), (.appStore, "{", "it is not JSON"),
            (.appStore, "[]", "it is an array, not an object"),
            (.appStore, "{}", "firstShownAt is missing, not milliseconds since 1970"),
            (.appStore, #"{"firstShownAt":"1"}"#, #"firstShownAt is "1", not milliseconds since 1970"#),
            (.appStore, #"{"firstShownAt":0}"#, "firstShownAt is the number 0"),
            (.appStore, #"{"firstShownAt":1.5}"#, "firstShownAt is the number 1.5"),
            (.appStore, #"{"firstShownAt":1,"version":"two"}"#, #"version is "two", not a version such as "2.1.0""#),
            (.appStore, #"{"firstShownAt":1,"version":null}"#, "version is null"),
            (.appStore, #"{"firstShownAt":1,"later":2}"#, #"it has a member "later", which is not known"#),
            (.appStoreConnect, #"{"firstShownAt":1}"#, "releases is missing, not a list"),
            (.appStoreConnect, #"{"releases":[1]}"#, "releases[0] is the number 1, not an object"),
            (.appStoreConnect, #"{"releases":[{"state":"A"}]}"#, "releases[0].version is missing"),
            (.appStoreConnect, #"{"releases":[{"version":"1","state":""}]}"#, #"releases[0].state is """#),
            (.appStoreConnect, #"{"releases":[{"version":"1","state":"a\nb"}]}"#, "releases[0].state is"),
            (
                .appStoreConnect, #"{"releases":[{"version":"1","state":"A","phase":"B"}]}"#,
                #"releases[0].phase is "B""#
            ),
            (.appStoreConnect, #"{"releases":[{"version":"1","state":"A","b":1}]}"#, #"releases[0] has a member "b""#),
            (.googlePlay, #"{"releases":[]}"#, "track is missing"),
            (.googlePlay, play(#""build":-1"#), "releases[0].build is the number -1, not a version code"),
            (.googlePlay, play(#""build":1,"status":"gone""#), #"releases[0].status is "gone", not completed"#),
            (
                .googlePlay, play(#""build":1,"status":"halted","fraction":1.01"#),
                "releases[0].fraction is the number 1.01, not a number from 0 to 1"
            ),
            (
                .googlePlay, play(#""build":1,"status":"halted","fraction":1,"lifecycle":"A","isForSomeCountries":1"#),
                "releases[0].isForSomeCountries is the number 1, not true or false"
            ),
        ] as [(StoreKind, String, String)])
    func refused(_ kind: StoreKind, _ said: String, _ reason: String) throws {
        let fault = #expect(throws: SourceFault.self) {
            try StoreEvidence(kind, said: said, askedAt: Self.asked)
        }
        #expect(fault?.reason.contains(reason) == true, "\(fault?.reason ?? "")")
    }

    private static func play(_ members: String) -> String { #"{"track":"production","releases":[{\#(members)}]}"# }
}
