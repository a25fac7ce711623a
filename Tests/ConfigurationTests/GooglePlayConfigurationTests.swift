// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import RelayStore
import Signing
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@testable import Configuration

@Suite struct GooglePlayConfigurationTests {
    private static func android(_ source: String, app: String = "com.example.app") -> String {
        "{ apps: { \"\(app)\": { android: { sources: [\(source)] } } } }"
    }

    private static func play(_ extra: String = "") -> String {
        android("{ googlePlay: { key: { file: \"/k.json\" }, \(extra) } }")
    }

    private func parsed(_ text: String) throws -> RelayConfiguration {
        try ConfigurationFile.parse(Array(text.utf8), path: "test")
    }

    @Test func `Little has to be said`() throws {
        let app = try #require(try parsed(Self.play()).apps.first)
        #expect(app.sources == [.googlePlay(GooglePlaySource(packageName: "com.example.app"))])
        #expect(app.sourceKeys == [.googlePlay: .file("/k.json")])
        #expect(app.gateRules.minimumFraction == 1 && app.gateRules.countries == .hold)
        #expect(app.sources.contains { $0.store != nil })
        guard case .googlePlay(let source)? = app.sources.first else { return }
        #expect(source.track == "production" && source.every == .seconds(600))
    }

    @Test func `All of it can be said`() throws {
        let text = Self.play(
            #"packageName: "com.example.other", track: "wear:production", every: "1s", minimumFraction: 0.2, countries: "ignore", "#
                + #"minimumOsPattern: "API (\\d+)", "#
                + #"versionPattern: "^Release (\\d+)$", server: "https://127.0.0.1:1", trustedCertificates: "/ca.pem""#)
        let app = try #require(try parsed(text).apps.first)
        #expect(
            app.sources == [
                .googlePlay(
                    GooglePlaySource(
                        packageName: "com.example.other", track: "wear:production",
                        namePattern: try TagPattern(#"^Release (\d+)$"#),
                        minimumOSPattern: try TagPattern(#"API (\d+)"#), every: .seconds(1),
                        server: "https://127.0.0.1:1"))
            ])
        #expect(app.sourceEgress.map(\.trustedCertificates) == ["/ca.pem"])
        #expect(app.gateRules.minimumFraction == 0.2 && app.gateRules.countries == .ignore)
    }

    private static let field = #"apps["com.example.app"].android.sources[0]"#

    private static let table: [(String, String)] = [
        (android("{}"), "\(field): names no source; { googlePlay: { … } }"),
        (
            android("{ appStore: { id: 1 } }"),
            "\(field): appStore is for ios: the App Store has no Android apps"
        ),
        (
            android("{ launchGate: { file: \"/x\" } }"),
            "\(field): launchGate is for ios: Gandalf's file holds version codes, not versions"
        ),
        (
            "{ apps: { a: { ios: { apns: null, sources: [{ googlePlay: {} }] } } } }",
            #"apps["a"].ios.sources[0]: googlePlay is for android: Google Play has no iOS apps"#
        ),
        (
            android("{ googlePlay: {} }"),
            "\(field).googlePlay.key: missing; where the service account's JSON file is: { file: \"…\" } or "
                + "{ credential: \"…\" }"
        ),
        (
            android("{ googlePlay: { key: { file: \"/k\" } } }", app: "demo"),
            #"apps["demo"].android.sources[0].googlePlay.packageName: missing; the app's id in Google Play, such as "com.example.app""#
        ),
        (
            play("packageName: \"demo\""),
            "\(field).googlePlay.packageName: \"demo\" is not a package name; such as \"com.example.app\""
        ),
        (
            play("track: \"a/b\""),
            "\(field).googlePlay.track: \"a/b\" is not a track; \"production\", \"beta\", or what Play Console calls it"
        ),
        (
            play("minimumFraction: 20"),
            "\(field).googlePlay.minimumFraction: 20 is not a share of users, of which 1 is all of them; a number from "
                + "0.001 to 1"
        ),
        (
            play("minimumFraction: 0"),
            "\(field).googlePlay.minimumFraction: 0 is not a share of users, of which 1 is all of them; a number from "
                + "0.001 to 1"
        ),
        (play("every: \"30s\""), "\(field).googlePlay.every: \"30s\" is out of range; from 1m to 1d"),
        (
            play(#"versionPattern: "\\d+""#),
            "\(field).googlePlay.versionPattern: \"\\d+\" has 0 capture groups; exactly one is needed, around the version, "
                + "and (?:…) around all others"
        ),
        (
            play("server: \"http://play.example\""),
            "\(field).googlePlay.server: \"http://play.example\" is not a server; an address such as "
                + "\"https://androidpublisher.googleapis.com\", without a user"
        ),
        (
            android("{ googlePlay: { key: { file: \"/k\" } } }, { googlePlay: { key: { file: \"/k\" } } }"),
            #"apps["com.example.app"].android.sources[1]: is a second Google Play source; an app has one"#
        ),
    ]

    @Test(arguments: table)
    func `A fault names its field, what it held and what would be right`(text: String, fault: String) {
        let error = #expect(throws: ConfigurationError.self) { try parsed(text) }
        #expect(error?.faults.map(\.description) == [fault])
    }

    @Test func `The key is read with the plan, and a wrong one is named without what it holds`() throws {
        let key = try RS256PrivateKey.generate()
        let file: JSONValue = [
            "type": .string("service_account"), "project_id": .string("p"), "client_email": .string("a@p.example"),
            "private_key": .string(String(decoding: key.pem, as: UTF8.self)),
        ]
        let text = Self.android("{ googlePlay: { key: { environment: \"PLAY_KEY\" } } }")
        let configuration = try parsed(text)
        let environment = ["PLAY_KEY": String(decoding: file.bytes(), as: UTF8.self)]
        let plan = try configuration.sourcePlan(environment: environment)
        guard case .googlePlay(let source)? = plan.sources.first?.kind else { throw CancellationError() }
        #expect(source.account?.email == "a@p.example")
        #expect(ConfigurationCheck(configuration: configuration, environment: environment).runFiles().faults.isEmpty)
        // The same key is the same plan: a reload changes nothing.
        #expect(try configuration.sourcePlan(environment: environment) == plan)

        let wrong = ["PLAY_KEY": #"{"type":"authorized_user","refresh_token":"geheim"}"#]
        let report = ConfigurationCheck(configuration: configuration, environment: wrong).runFiles()
        #expect(
            report.faults.map(\.description) == [
                "\(Self.field).googlePlay.key: environment variable PLAY_KEY: its type is \"authorized_user\"; the key of "
                    + "a \"service_account\" is needed"
            ])
        #expect(throws: FileProbe.Failure.self) { try configuration.sourcePlan(environment: wrong) }
        #expect(throws: FileProbe.Failure.self) { try configuration.sourcePlan(environment: [:]) }
    }
}
