// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@testable import Configuration

@Suite struct ConfigurationFaultTests {
    private static let apns = #"apns: { teamId: "ABCDE12345", keyId: "FGHIJ67890", key: { file: "/k.p8" } }"#

    /// An iOS app with `extra` beside a valid `apns`.
    static func ios(_ extra: String) -> String {
        "{ apps: { \"com.example.app\": { ios: { \(apns), \(extra) } } } }"
    }

    @Test(arguments: ["{ \u{1}: 1 }", "{ a: 1,\n\u{1} }", "{ \"\u{1}\": 1 }", "{ a: '\u{1}' }"])
    func `What is not UTF-8 is a fault with its line`(text: String) {
        // U+0001 stands for a byte that begins no character.
        let bytes = text.utf8.map { $0 == 1 ? 0xBF : $0 }
        let error = #expect(throws: ConfigurationError.self) { try ConfigurationFile.parse(bytes, path: "test") }
        let place = text.contains("\n") ? "line 2, column 1" : "line 1, column"
        #expect(error?.faults.count == 1)
        let problem = error?.faults.first?.reason ?? ""
        #expect(problem.hasPrefix("not JSON5: \(place)"), "\(problem)")
        #expect(problem.hasSuffix(": the text is not valid UTF-8"), "\(problem)")
    }

    /// An iOS app whose `apns` has `extra` in it.
    static func ios(apns extra: String) -> String {
        "{ apps: { \"com.example.app\": { ios: { \(apns.dropLast(2)), \(extra) } } } } }"
    }

    private static let table: [(String, String)] = [
        (
            ios(apns: "tryOtherEnvironment: \"yes\""),
            #"apps["com.example.app"].ios.apns.tryOtherEnvironment: "yes" is not true or false"#
        ),
        (
            ios(apns: "tryOtherEnvironment: true, server: \"https://127.0.0.1:2197\""),
            #"apps["com.example.app"].ios.apns.tryOtherEnvironment: true needs two servers, and both are https://127.0.0.1:2197; name a sandboxServer, or leave this out"#
        ),
        (
            "{ log: { level: \"loud\" } }",
            #"log.level: "loud" is not a log level; "debug", "info", "notice", "warning" or "error""#
        ),
        ("{ log: { leve: \"info\" } }", "log.leve: unknown key; did you mean level?"),
        (
            ios("push: { priority: 11 }"),
            #"apps["com.example.app"].ios.push.priority: 11 is not a priority; 1, 5 or 10"#
        ),
        (
            ios("push: { timeToLive: \"7 days\" }"),
            #"apps["com.example.app"].ios.push.timeToLive: "7 days" is not a duration; write it like "7d", "12h", "30m" or "45s""#
        ),
        (
            ios("push: { timeToLive: \"31d\" }"),
            #"apps["com.example.app"].ios.push.timeToLive: "31d" is out of range; from 1m to 30d"#
        ),
        (ios("push: { remind: \"3d\" }"), #"apps["com.example.app"].ios.push.remind: "3d" is not a list"#),
        (
            ios("push: { remind: [3] }"),
            #"apps["com.example.app"].ios.push.remind[0]: 3 is not a duration; write it like "3d" or "12h""#
        ),
        (
            ios("push: { remind: [\"1d\", \"59m\"] }"),
            #"apps["com.example.app"].ios.push.remind[1]: "59m" is out of range; from 1h to 365d"#
        ),
        (
            ios("push: { remind: [\"7d\", \"3d\"] }"),
            #"apps["com.example.app"].ios.push.remind[1]: "3d" does not rise; each time counts from the campaign's start"#
        ),
        (
            ios("push: { remind: [\"1d\", \"2d\", \"3d\", \"4d\", \"5d\", \"6d\"] }"),
            #"apps["com.example.app"].ios.push.remind: has 6 reminders; at most 5"#
        ),
        (
            ios("push: { remind: [\"3d\"] }").replacing("{ apps", with: "{ store: { keep: \"2d\" }, apps"),
            "store.keep: 2d ends before the last reminder of apps.com.example.app.ios.push.remind, which comes after 3d: the "
                + "campaign's deliveries would be gone by then; keep them for as long"
        ),
        (ios("push: { typ: \"x\" }"), #"apps["com.example.app"].ios.push.typ: unknown key; did you mean type?"#),
        (
            ios("push: { alert: 5 }"),
            #"apps["com.example.app"].ios.push.alert: 5 is not text, nor an object { … }"#
        ),
        (ios("push: []"), #"apps["com.example.app"].ios.push: a list is not an object { … }"#),
        (
            ios("forcePolicy: \"never\""),
            #"apps["com.example.app"].ios.forcePolicy: "never" is not a force policy; "manual", "major", "minor", "patch" or "every""#
        ),
        (
            ios("sources: [{}]"),
            #"apps["com.example.app"].ios.sources[0]: names no source; { appStore: { … } }, { appStoreConnect: { … } } or { launchGate: { … } }"#
        ),
        (
            ios("sources: [{ appStore: {} }]"),
            #"apps["com.example.app"].ios.sources[0].appStore: says neither id nor bundleId; one of them, best both"#
        ),
        (
            ios("sources: [{ appStore: { id: 1, every: \"5m\" } }]"),
            #"apps["com.example.app"].ios.sources[0].appStore.every: "5m" is out of range; from 15m to 1d"#
        ),
        (
            ios("sources: [{ appStore: { id: 1, country: \"china\" } }]"),
            #"apps["com.example.app"].ios.sources[0].appStore.country: "china" is not a country; two letters, such as "cn""#
        ),
        (
            ios("sources: [{ appStore: { id: 1 } }, { appStore: { id: 2 } }]"),
            #"apps["com.example.app"].ios.sources[1]: is a second App Store source; an app has one"#
        ),
        (
            ios("sources: [{ launchGate: { url: \"http://example.com/gate.json\" } }]"),
            #"apps["com.example.app"].ios.sources[0].launchGate.url: "http://example.com/gate.json" is not an https address (http is taken for this machine only)"#
        ),
        (
            ios("sources: [{ launchGate: { url: \"http://127.0.0.1:80@example.com/\" } }]"),
            #"apps["com.example.app"].ios.sources[0].launchGate.url: "http://…@example.com/" is not an https address (http is taken for this machine only)"#
        ),
        (
            ios("sources: [{ launchGate: { url: \"https://user:geheim@cdn.example/gate.json\" } }]"),
            #"apps["com.example.app"].ios.sources[0].launchGate.url: "https://…@cdn.example/gate.json" is not an https address without a user; what the server wants to see of us goes into the query, which no fault shows"#
        ),
        (
            ios("sources: [{ appStore: { id: 1, lookupServer: \"https://user:geheim@lookup.example\" } }]"),
            #"apps["com.example.app"].ios.sources[0].appStore.lookupServer: "https://…@lookup.example" is not a server; an address such as "https://itunes.apple.com", without a user"#
        ),
        (
            ios("sources: [{ launchGate: { file: \"gate.json\" } }]"),
            #"apps["com.example.app"].ios.sources[0].launchGate.file: "gate.json" is not an absolute path; one that begins with /"#
        ),
        (
            ios("retireBelow: 1"),
            #"apps["com.example.app"].ios.retireBelow: 1 is not a share of the devices; a number from 0.0001 to 0.5"#
        ),
        (
            ios("retireBelow: \"1%\""),
            #"apps["com.example.app"].ios.retireBelow: "1%" is not a share of the devices; a number from 0.0001 to 0.5"#
        ),
        (
            ios("seenWithin: \"7d\""),
            #"apps["com.example.app"].ios.seenWithin: "7d" is out of range; from 14d to 365d"#
        ),
        (
            ios("holdHours: -1"),
            #"apps["com.example.app"].ios.holdHours: -1 is not a number of hours; a whole number from 0 to 720"#
        ),
        (
            ios("downloadUrl: \"no url\""),
            #"apps["com.example.app"].ios.downloadUrl: "no url" is no download URL: an absolute URL is needed, such as "https://apps.apple.com/app/id1173193999", without spaces"#
        ),
        (
            ios("downloadUrl: \"ftp://example.com/app\""),
            #"apps["com.example.app"].ios.downloadUrl: "ftp://example.com/app" is no download URL: its scheme must be https"#
        ),
        (
            ios("downloadSchemes: [\"itms-apps\", \"javascript\"]"),
            #"apps["com.example.app"].ios.downloadSchemes[1]: "javascript" is never allowed; a custom scheme such as "itms-apps", without the colon"#
        ),
        (
            ios("downloadSchemes: [\"itms-apps\"], downloadUrl: \"market://details?id=a\""),
            #"apps["com.example.app"].ios.downloadUrl: "market://details?…" is no download URL: its scheme must be https or itms-apps; downloadSchemes in the app's configuration can allow another"#
        ),
        (
            "{ fanOut: { batch: 0 } }",
            #"fanOut.batch: 0 is not a batch size; a whole number from 1 to 10000"#
        ),
        (
            "{ fanOut: { lanes: 1.5 } }",
            #"fanOut.lanes: 1.5 is not a number of lanes; a whole number from 1 to 64"#
        ),
        (
            "{ fanOut: { lanes: Infinity } }",
            #"fanOut.lanes: inf is not a number of lanes; a whole number from 1 to 64"#
        ),
        (
            "{ fanOut: { lanes: 0x41 } }",
            #"fanOut.lanes: 65 is not a number of lanes; a whole number from 1 to 64"#
        ),
        (
            "{ apps: { a: { ios: {} } } }",
            #"apps["a"].ios.apns: missing; { teamId, keyId, key } or { certificate, key } say how to push to this app, or fcm does; null says that it only asks at login"#
        ),
        ("{ apps: { a: {} } }", #"apps["a"]: names no platform; ios: { … }, android: { … } or both"#),
        (
            "{ apps: { a: { android: { apns: {} } } } }",
            #"apps["a"].android.apns: is for ios; an Android app is pushed to by fcm"#
        ),
        (
            "{ apps: { \"a/b\": { android: {} } } }",
            #"apps["a/b"]: is not a name for an app; letters, digits, dots, hyphens and underscores"#
        ),
        (
            "{ listen: { tls: { certificate: { file: \"/x\" } } } }",
            "listen.tls.key: missing; where the PEM file of the certificate's private key is: { file: \"…\" } or "
                + "{ credential: \"…\" }"
        ),
        (
            "{ listen: { limits: { connections: 3 } } }",
            "listen.limits.connections: 3 is not a number of connections; a whole number from 16 to 1000000"
        ),
        (
            "{ listen: { limits: { requestTime: \"1d\" } } }",
            #"listen.limits.requestTime: "1d" is out of range; from 1s to 1h"#
        ),
        (
            "{ listen: { controlSocketGroup: \"no-such-group\" } }",
            #"listen.controlSocketGroup: "no-such-group" is not a group of this system; one that "getent group" shows"#
        ),
        (
            "{ listen: { checkTrust: \"all\" } }",
            #"listen.checkTrust: "all" is not whose word is taken; "device" or "authorized""#
        ),
        (
            "{ listen: { corsOrigins: [\"https://app.example.com/\"] } }",
            #"listen.corsOrigins[0]: "https://app.example.com/" is refused: an origin as a browser sends it is needed, such as "https://app.example.com" or "capacitor://localhost": a host, perhaps a port, and nothing behind it"#
        ),
        (
            "{ listen: { address: \"localhost:1\" } }",
            #"listen.address: "localhost:1" is not an address to listen on; an IP address and a port, such as "127.0.0.1:8480" or "[::1]:8480""#
        ),
        (
            "{ listen: { operations: \"metrics\" } }",
            #"listen.operations: "metrics" is not an address to listen on; an IP address and a port, such as "127.0.0.1:8480" or "[::1]:8480""#
        ),
        (
            "{ listen: { address: \"10.0.0.1:8480\", operations: \"10.0.0.1:8480\" } }",
            #"listen.operations: "10.0.0.1:8480" is what listen.address is, too; another address, or another port of it, is needed"#
        ),
        (
            "{ listen: { controlSocket: \"x\" } }",
            #"listen.controlSocket: "x" is not an absolute path; one that begins with /"#
        ),
        (
            "{ store: { postgres: {} } }",
            #"store.postgres.url: missing; where the database is, such as "postgresql://relay@db1/relay?sslmode=verify-full""#
        ),
        (
            "{ store: { postgres: { url: \"postgresql://db1/relay\", schema: \"pg_x\" } } }",
            #"store.postgres.schema: "pg_x" is not a schema; lowercase letters, digits and "_", 63 at most, not a digit first, and not "pg_""#
        ),
        (
            "{ store: { postgres: { url: \"postgresql://db1/relay\", password: \"geheim\" } } }",
            #"store.postgres.password: a secret is never written here; say where it is kept: { file: "…" }, { credential: "…" } or { environment: "…" }"#
        ),
        ("{ stor: {} }", "stor: unknown key; did you mean store?"),
        (
            "{ zzz: 1 }",
            "zzz: unknown key; known here: apps, egress, enforce, fanOut, listen, log, notify, store, webhooks"
        ),
        (
            "{ webhooks: { secrets: [\"geheim\"] } }",
            #"webhooks.secrets[0]: a secret is never written here; say where it is kept: { file: "…" }, { credential: "…" } or { environment: "…" }"#
        ),
        (
            "{ webhooks: { secrets: [{ file: \"/a\", environment: \"B\" }] } }",
            #"webhooks.secrets[0]: names several places for the secret; { file: "…" }, { credential: "…" } or { environment: "…" }"#
        ),
        (
            "{ webhooks: { secrets: [{ file: \"/a\", apps: [] }] } }",
            "webhooks.secrets[0].apps: is empty; leave it out for all apps"
        ),
        (
            "{ webhooks: { secrets: [{ file: \"/a\", apps: [\"com.typo\"] }] } }",
            #"webhooks.secrets[0].apps: names "com.typo", which is not among the apps"#
        ),
        ("[]", "a list is not a configuration; an object { … } is"),
        ("{\n a: 1,\n b: }", "not JSON5: line 3, column 5: a value is needed"),
    ]

    @Test(arguments: table)
    func `A fault names its field, what it held and what would be right`(text: String, fault: String) {
        #expect(configurationFaults(text) == [fault])
    }

    @Test func `All faults are found at once`() {
        let text = """
            { stor: {}, listen: { address: 1, controlSocket: 2 },
              apps: { a: { ios: { push: { priority: 11, typ: 1 }, apns: { teamId: "x", key: "inline" } } } } }
            """
        let fields = configurationFaults(text).map { $0.prefix { $0 != " " } }
        #expect(
            fields == [
                "listen.address:", "listen.controlSocket:", #"apps["a"].ios.push.priority:"#,
                #"apps["a"].ios.push.typ:"#,
                #"apps["a"].ios.apns.teamId:"#, #"apps["a"].ios.apns.keyId:"#, #"apps["a"].ios.apns.key:"#, "stor:",
            ])
    }

    @Test func `A secret of the environment that is no text is refused, not changed`() throws {
        // Foundation reads a byte that is not UTF-8 as U+FFFD.
        let error = #expect(throws: FileProbe.Failure.self) {
            try SecretSource.environment("S").read(environment: ["S": "geheim\u{FFFD}"])
        }
        #expect(error?.description == "environment variable S is not text; a file may hold any bytes: { file: \"…\" }")
        #expect(try SecretSource.environment("S").read(environment: ["S": "geheim"]) == Array("geheim".utf8))
    }

    @Test func `An address may have a port, a signed query and an at sign in its path`() {
        for url in [
            "https://cdn.example:8443/gate.json?signature=a@b", "https://cdn.example/app@2/gate.json",
            "https://[2001:db8::1]:8443/gate.json", "http://127.0.0.1:8080/gate.json", "https://cdn.example",
        ] {
            #expect(configurationFaults(Self.ios("sources: [{ launchGate: { url: \"\(url)\" } }]")) == [], "\(url)")
        }
    }

    @Test func `A key that stands twice is a fault`() {
        #expect(configurationFaults("{ apps: {}, apps: {} }") == ["line 1, column 13: the name \"apps\" appears twice"])
    }
}
