// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Signing
import Testing
import VersionSources
import WireFormat

@testable import Configuration

@Suite struct StoreSourceConfigurationTests {
    private static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
    private static let field = #"apps["com.example.app"].ios.sources[0].appStoreConnect"#

    private static func text(_ sources: String, platform: String = "ios") -> String {
        "{ apps: { \"com.example.app\": { \(platform): { apns: null, sources: [\(sources)] } } } }"
    }

    private static func connect(_ members: String) -> String {
        text("{ appStoreConnect: { \(members) } }")
    }

    @Test func `App Store Connect is read, and needs an app and a key alone`() throws {
        let all = """
            appId: 1173193999, issuerId: "\(Self.issuer)", keyId: "2X9R4HXF34", key: { file: "/k.p8" }, every: "1s",
            server: "https://127.0.0.1:8443", trustedCertificates: "/ca.pem"
            """
        let app = try #require(try ConfigurationFile.parse(Array(Self.connect(all).utf8), path: "test").apps.first)
        #expect(
            app.sources == [
                .appStoreConnect(
                    AppStoreConnectSource(
                        appID: 1_173_193_999, key: AppStoreConnectKey(issuerID: Self.issuer, keyID: "2X9R4HXF34"),
                        every: .seconds(1), server: "https://127.0.0.1:8443"))
            ])
        #expect(app.sourceEgress.map(\.trustedCertificates) == ["/ca.pem"])
        #expect(app.sourceKeys == [.appStoreConnect: .file("/k.p8")])
        #expect(app.sources.contains { $0.store != nil })
        let few = Self.connect("appId: 1, keyId: \"2X9R4HXF34\", key: { environment: \"KEY\" }")
        let configuration = try ConfigurationFile.parse(Array(few.utf8), path: "test")
        // With the key as it is when the plan is made.
        for key in ["one", "two"] {
            let source = try configuration.sourcePlan(environment: ["KEY": key]).sources.first
            #expect(
                source?.kind
                    == .appStoreConnect(
                        AppStoreConnectSource(
                            appID: 1, key: AppStoreConnectKey(issuerID: nil, keyID: "2X9R4HXF34", pem: Array(key.utf8)))
                    ))
        }
        #expect(throws: (any Error).self) { try configuration.sourcePlan(environment: [:]) }
    }

    private static let good = "appId: 1, keyId: \"2X9R4HXF34\", key: { file: \"/k\" }"

    private static let table: [(String, String)] = [
        (
            connect("keyId: \"2X9R4HXF34\", key: { file: \"/k\" }"),
            "\(field).appId: missing; the app's Apple ID, the number in its address in the App Store"
        ),
        (
            connect("appId: 1, key: { file: \"/k\" }"),
            "\(field).keyId: missing; the id that App Store Connect shows beside the key"
        ),
        (
            connect("appId: 1, keyId: \"2X9R4HXF34\""),
            "\(field).key: missing; where the .p8 file is: { file: \"…\" } or { credential: \"…\" }"
        ),
        (
            connect("\(good), issuerId: \"ABCDE12345\""),
            "\(field).issuerId: \"ABCDE12345\" is not an issuer id; such as \"57246542-96fe-1a63-e053-0824d011072a\""
        ),
        (
            connect("appId: 1, keyId: \"no/key id\", key: { file: \"/k\" }"),
            "\(field).keyId: \"no/key id\" is not a key id; letters and digits, such as \"2X9R4HXF34\""
        ),
        (connect("\(good), every: \"29s\""), "\(field).every: \"29s\" is out of range; from 30s to 1d"),
        (
            connect("\(good), server: \"http://127.0.0.1:80\""),
            "\(field).server: \"http://127.0.0.1:80\" is not a server; an address such as \"https://127.0.0.1:2197\""
        ),
        (
            text("{ appStoreConnect: { \(good) } }, { appStoreConnect: { \(good) } }"),
            #"apps["com.example.app"].ios.sources[1]: is a second App Store Connect source; an app has one"#
        ),
        (
            text("{ appStoreConnect: { \(good) }, appStore: { id: 1 } }"),
            #"apps["com.example.app"].ios.sources[0]: names two; { appStore: { … } }, { appStoreConnect: { … } } or { launchGate: { … } }"#
        ),
    ]

    @Test(arguments: table) func `A fault says where, what it held and what would be right`(text: String, fault: String)
    {
        #expect(configurationFaults(text) == [fault])
    }

    @Test func `Both sources of the App Store may stand together, and Android has neither`() {
        #expect(configurationFaults(Self.text("{ appStoreConnect: { \(Self.good) } }, { appStore: { id: 1 } }")) == [])
        let android = "{ apps: { a: { android: { sources: [{ appStoreConnect: { \(Self.good) } }] } } } }"
        let faults = configurationFaults(android)
        #expect(faults.count == 1 && faults[0].contains("is for ios"))
    }

    // MARK: Files

    private static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINhZxcweBYAc2tMh+lU5SVkGy3bYmSM0MAcauj5Qu0JN
        -----END PRIVATE KEY-----
        """

    @Test func `The key is looked at, and the fault holds nothing of it`() throws {
        let text = Self.connect(
            "appId: 1, keyId: \"2X9R4HXF34\", key: { environment: \"KEY\" }, trustedCertificates: \"/nowhere.pem\"")
        let configuration = try ConfigurationFile.parse(Array(text.utf8), path: "test")
        func faults(_ environment: [String: String]) -> [String] {
            ConfigurationCheck(configuration: configuration, environment: environment).runFiles().faults
                .map(\.description)
        }
        let certificates = "\(Self.field).trustedCertificates: the file /nowhere.pem does not exist"
        let key = String(decoding: try ES256PrivateKey.generate().pem, as: UTF8.self)
        #expect(faults(["KEY": key]) == [certificates])
        let wrong = [
            [:]: "environment variable KEY is not set", ["KEY": "geheim"]: "no private key found",
            ["KEY": Self.ed25519]: "not a P-256 key: it is ED25519",
        ]
        for (environment, says) in wrong {
            let faults = faults(environment)
            #expect(faults.count == 2 && faults[0] == certificates, "\(faults)")
            #expect(faults[1].hasPrefix("\(Self.field).key: ") && faults[1].contains(says), "\(faults)")
            #expect(!faults[1].contains("geheim"))
        }
    }
}
