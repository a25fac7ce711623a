// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import StorePeers
import Testing
import UpgradeRules
import WireFormat

@testable import VersionSources

@Suite("Google Play's answers")
struct PlayAnswerTests {
    @Test("a list in Google's shape goes through")
    func list() throws {
        let body = PlaySample.list(
            PlaySample.summary("1.9.0", [190, 191]), PlaySample.summary(nil, [200], "IN_REVIEW"),
            PlaySample.summary("next", [], "DRAFT"))
        #expect(
            try GooglePlayAnswer.releases(Array(body.utf8), track: "production") == [
                GooglePlaySummary(name: "1.9.0", builds: [190, 191], lifecycle: "PUBLISHED"),
                GooglePlaySummary(name: nil, builds: [200], lifecycle: "IN_REVIEW"),
            ])
        // Empty members are left out, and the answer for a track that was never used is empty.
        for empty in ["", "{}", "{\"releases\":[]}", "{\"releases\":null}"] {
            #expect(try GooglePlayAnswer.releases(Array(empty.utf8), track: "production").isEmpty)
        }
    }

    @Test("an edit's track in Google's shape goes through")
    func track() throws {
        let body = PlaySample.track(
            PlaySample.rollout("200 (2.0.0)", [199, 200], "inProgress", 0.125),
            PlaySample.rollout(
                "2.0.0-de", [201], "inProgress", 0.5, more: #""countryTargeting": { "countries": ["de", "AT"] },"#),
            PlaySample.rollout(
                nil, [202], "halted", 0.2,
                more: #""countryTargeting": { "countries": ["DE"], "includeRestOfWorld": true },"#),
            PlaySample.rollout(nil, [203], "halted"), PlaySample.rollout("1.9.0", [190], "completed"),
            PlaySample.rollout("3", [], "draft"))
        let read = try GooglePlayAnswer.track(Array(body.utf8), track: "production")
        #expect(read.map(\.builds) == [[199, 200], [201], [202], [203], [190]])
        #expect(read.map(\.status) == [.inProgress, .inProgress, .halted, .halted, .completed])
        #expect(read.map(\.fraction) == [0.125, 0.5, 0.2, 1, 1])
        #expect(read.map(\.countries) == [nil, ["AT", "DE"], nil, nil, nil])
        #expect(read.map(\.priority) == [0, 0, 0, 0, 0])
        #expect(read.map(\.name) == ["200 (2.0.0)", "2.0.0-de", nil, nil, "1.9.0"])
    }

    @Test(
        "what is no list is a fault with its place",
        arguments: [
            ("<html>", "a page (HTML)"), ("[]", "not a JSON object"), (#"{"releases":{}}"#, "releases is an object"),
            (#"{"releases":[1]}"#, "releases[0] is the number 1"),
            (
                #"{"releases":[{"activeArtifacts":[{"versionCode":1}]}]}"#,
                #"releases[0] has no "releaseLifecycleState""#
            ),
            (
                #"{"releases":[{"activeArtifacts":[{"versionCode":-1}]}]}"#,
                "releases[0].activeArtifacts[0].versionCode is the number -1"
            ),
            (
                #"{"releases":[{"activeArtifacts":[{"versionCode":2147483648}]}]}"#,
                "releases[0].activeArtifacts[0].versionCode is the number 2147483648"
            ),
            (#"{"releases":[{"activeArtifacts":[{}]}]}"#, "versionCode is missing"),
            (
                #"{"releases":[{"activeArtifacts":[{"versionCode":1}],"releaseLifecycleState":"out now"}]}"#,
                "not a word such as PUBLISHED"
            ),
        ])
    func listFaults(body: String, says: String) throws {
        let fault = try #require(throws: SourceFault.self) {
            try GooglePlayAnswer.releases(Array(body.utf8), track: "production")
        }
        #expect(fault.reason.contains(says), "\(fault)")
    }

    @Test(
        "what is no track is a fault with its place",
        arguments: [
            ("", "empty"), (#"{"releases":[{"versionCodes":["1"]}]}"#, "releases[0].status is missing"),
            (
                #"{"releases":[{"versionCodes":["1"],"status":"statusUnspecified"}]}"#,
                #"releases[0].status is "statusUnspecified", not completed"#
            ),
            (#"{"releases":[{"versionCodes":["x"],"status":"draft"}]}"#, #"releases[0].versionCodes[0] is "x""#),
            (#"{"releases":[{"versionCodes":["1"],"status":"inProgress"}]}"#, #"has no "userFraction""#),
            (
                #"{"releases":[{"versionCodes":["1"],"status":"inProgress","userFraction":10}]}"#,
                "userFraction is the number 10, not a number from 0 to 1"
            ),
            (#"{"releases":[{"versionCodes":["1"],"status":"halted","userFraction":"0.1"}]}"#, "not a number from 0"),
        ])
    func trackFaults(body: String, says: String) throws {
        let fault = try #require(throws: SourceFault.self) {
            try GooglePlayAnswer.track(Array(body.utf8), track: "production")
        }
        #expect(fault.reason.contains(says), "\(fault)")
    }

    @Test("an edit has an id that may stand in an address")
    func edit() throws {
        #expect(
            try GooglePlayAnswer.edit(Array(#"{"id":"07354873526541258901","expiryTimeSeconds":"1800000000"}"#.utf8))
                == "07354873526541258901")
        for wrong in ["{}", #"{"id":""}"#, #"{"id":".."}"#, #"{"id":"a b"}"#, #"{"id":7}"#, "[]", ""] {
            #expect(throws: SourceFault.self) { try GooglePlayAnswer.edit(Array(wrong.utf8)) }
        }
    }

    @Test(
        "what a release's name says by default",
        arguments: [
            ("2.0.0", "2.0.0"), ("v2.1", "2.1"), ("210 (2.1.0)", "2.1.0"), ("210", nil), ("20261122", nil),
            ("2026-11-22", nil), ("Nov 22", nil), ("2.0.0 beta", nil), ("", nil),
        ] as [(String, String?)])
    func names(name: String, version: String?) {
        guard case .version(let read) = GooglePlaySource.namePattern.read(name) else {
            #expect(version == nil)
            return
        }
        #expect(read.text == version)
    }

    @Test("how Google refuses")
    func errors() {
        let disabled = GoogleErrorBody(
            Array(
                #"""
                { "error": { "code": 403, "message": "API has not been used\nin project 1 before", "status": "PERMISSION_DENIED",
                  "errors": [ { "reason": "accessNotConfigured" } ],
                  "details": [ { "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "SERVICE_DISABLED" },
                               { "@type": "x", "errorCode": "not a word" } ] } }
                """#.utf8))
        #expect(disabled.status == "PERMISSION_DENIED")
        #expect(disabled.message == "API has not been used in project 1 before")
        #expect(disabled.reasons == ["accessNotConfigured", "SERVICE_DISABLED"])
        for nothing in ["", "<html>", "[]", "{}", #"{"error":"x"}"#] {
            let body = GoogleErrorBody(Array(nothing.utf8))
            #expect(body.status == nil && body.message == nil && body.reasons.isEmpty)
        }
    }
}
