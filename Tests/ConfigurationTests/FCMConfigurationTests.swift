// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import RelayEngine
import RelayStore
import Signing
import Testing
import UpgradeRules
import WireFormat

@testable import Configuration

@Suite struct FCMConfigurationTests {
    private static func android(_ fcm: String) -> String {
        "{ apps: { \"com.example.app\": { android: { fcm: \(fcm) } } } }"
    }

    private static let least = #"serviceAccount: { file: "/k.json" }"#

    private func parsed(_ text: String) throws -> RelayConfiguration {
        try ConfigurationFile.parse(Array(text.utf8), path: "test")
    }

    @Test func `Little has to be said`() throws {
        let app = try #require(try parsed(Self.android("{ \(Self.least) }")).apps.first)
        #expect(app.fcm == FCMConfiguration(serviceAccount: .file("/k.json")))
        #expect(app.apns == nil)
        #expect(app.fcm?.quotaPerMinute == 600_000 && app.fcm?.avoidsQuarterHours == true)
        #expect(app.fcm?.server == ServerAddress(host: "fcm.googleapis.com", port: 443))
    }

    @Test func `All of it can be said`() throws {
        let text = Self.android(
            #"{ serviceAccount: { credential: "a" }, project: "example-project", server: "https://127.0.0.1:2198", "#
                + #"trustedCertificates: "/ca.pem", proxy: "http://p:1", connections: 4, quotaPerMinute: 1200, "#
                + #"avoidQuarterHours: false, packageName: "com.example.app", notification: { title: "Example" }, "#
                + #"analyticsLabel: "upgrade-{campaign}", bandwidthConstrainedOk: true, restrictedSatelliteOk: true }"#)
        let app = try #require(try parsed(text).apps.first)
        let fcm = try #require(app.fcm)
        var expected = FCMConfiguration(serviceAccount: .credential("a"))
        expected.project = "example-project"
        expected.server = ServerAddress(host: "127.0.0.1", port: 2198)
        expected.egress.trustedCertificates = "/ca.pem"
        expected.egress.proxy = .address(try ProxyServer("http://p:1", key: "elsewhere"))
        expected.connections = 4
        (expected.quotaPerMinute, expected.avoidsQuarterHours) = (1200, false)
        (expected.packageName, expected.showsNotification) = ("com.example.app", true)
        expected.analyticsLabel = AnalyticsLabel("upgrade-{campaign}")
        (expected.isForConstrainedBandwidth, expected.isForRestrictedSatellite) = (true, true)
        #expect(fcm == expected)
        #expect(app.push.words.title == "Example")
    }

    @Test(arguments: ["{ android: {} }", "{ android: { fcm: null } }"])
    func `Without it an app is not pushed to`(app: String) throws {
        let app = try #require(try parsed("{ apps: { a: \(app) } }").apps.first)
        #expect(app.fcm == nil)
    }

    @Test(arguments: ["", "apns: null,", #"apns: { teamId: "ABCDE12345", keyId: "FGHIJ67890", key: { file: "/k" } },"#])
    func `An iOS app has it beside APNs, or alone`(apns: String) throws {
        let text =
            #"{ apps: { a: { ios: { \#(apns) push: { alert: { title: "T", body: "b" }, interruptionLevel: "passive" }, "#
            + #"fcm: { \#(Self.least), project: "example-project", analyticsLabel: "a" } } } } }"#
        let app = try #require(try parsed(text).apps.first)
        #expect(app.fcm?.project == "example-project" && app.fcm?.analyticsLabel == AnalyticsLabel("a"))
        #expect((app.apns != nil) == apns.contains("teamId"))
        #expect(app.push.words.title == "T" && app.push.words.interruptionLevel == .passive)
    }

    private static let field = #"apps["com.example.app"].android.fcm"#

    @Test(arguments: [
        (android("{}"), "\(field).serviceAccount: missing; where the service account's JSON file is: "),
        (android("{ serviceAccount: \"{…}\" }"), "\(field).serviceAccount: a secret is never written here"),
        (android("{ \(least), project: \"Example\" }"), "\(field).project: \"Example\" is not a project id; such as"),
        (android("{ \(least), project: \"a/b/c\" }"), "\(field).project: \"a/b/c\" is not a project id"),
        (android("{ \(least), server: \"fcm\" }"), "\(field).server: \"fcm\" is not a server"),
        (android("{ \(least), quotaPerMinute: 1 }"), "\(field).quotaPerMinute: 1 is"),
        (android("{ \(least), packageName: \"app\" }"), "\(field).packageName: \"app\" is not a package name"),
        (android("{ \(least), notification: {} }"), "\(field).notification.title: missing"),
        (android("{ \(least), analyticsLabel: 5 }"), "\(field).analyticsLabel: 5 is not text"),
        (
            android("{ \(least), analyticsLabel: \"an upgrade\" }"),
            "\(field).analyticsLabel: \"an upgrade\" is not a label; letters, digits, \"-\", \"_\", \".\", \"~\" and \"%\", 50 at most"
        ),
        (
            android("{ \(least), analyticsLabel: \"{campaign}-\(String(repeating: "a", count: 38))\" }"),
            "\(field).analyticsLabel: \"{campaign}-aaa"
        ),
        (android("{ \(least), analyticsLabel: \"\" }"), "\(field).analyticsLabel: \"\" is not a label"),
        (
            android("{ \(least), bandwidthConstrainedOk: 1 }"),
            "\(field).bandwidthConstrainedOk: 1 is not true or false"
        ),
        (
            android("{ \(least), restrictedSatelliteOk: \"yes\" }"),
            "\(field).restrictedSatelliteOk: \"yes\" is not true or false"
        ),
        (android("{ \(least), topic: \"a\" }"), "\(field).topic: unknown key"),
        (
            "{ apps: { a: { android: { apns: {} } } } }",
            #"apps["a"].android.apns: is for ios; an Android app is pushed to by fcm"#
        ),
        (
            "{ apps: { a: { ios: { apns: null, fcm: {} } } } }",
            #"apps["a"].ios.fcm.serviceAccount: missing"#
        ),
        (
            "{ apps: { a: { ios: { fcm: { \(least), packageName: \"a.b\" } } } } }",
            #"apps["a"].ios.fcm.packageName: is for android; APNs has nothing like it"#
        ),
        (
            "{ apps: { a: { ios: { fcm: { \(least), restrictedSatelliteOk: true } } } } }",
            #"apps["a"].ios.fcm.restrictedSatelliteOk: is for android; APNs has nothing like it"#
        ),
        (
            "{ apps: { a: { ios: { fcm: { \(least), notification: {} } } } } }",
            #"apps["a"].ios.fcm.notification: is for android; an iPhone shows push.alert"#
        ),
        (
            "{ apps: { a: { ios: {} } } }",
            #"apps["a"].ios.apns: missing; { teamId, keyId, key } or { certificate, key }"#
        ),
    ])
    func `What is wrong is named`(text: String, fault: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try parsed(text) }
        #expect(error.faults.count == 1)
        #expect(error.faults.first.map { "\($0.field): \($0.reason)" }?.hasPrefix(fault) == true, "\(error)")
    }

    // MARK: The key file

    private static let key = Result { try RS256PrivateKey.generate() }

    private func file(_ change: (inout [String: JSONValue]) -> Void = { _ in }) throws -> String {
        var file: [String: JSONValue] = [
            "type": .string("service_account"), "project_id": .string("example-project"),
            "private_key": .string(String(decoding: try Self.key.get().pem, as: UTF8.self)),
            "client_email": .string("relay@example-project.iam.gserviceaccount.com"),
        ]
        change(&file)
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        let json = JSONValue.object(file.map { JSONMember(name: $0.key, value: $0.value) })
        try Data(json.bytes()).write(to: URL(filePath: path))
        return path
    }

    private func faults(_ path: String, _ more: String = "") throws -> [String] {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let configuration = try parsed(Self.android("{ serviceAccount: { file: \"\(path)\" }, \(more) }"))
        let report = ConfigurationCheck(configuration: configuration, environment: [:]).runFiles()
        if report.faults.isEmpty { #expect(report.secretsRead.map(\.field) == ["\(Self.field).serviceAccount"]) }
        return report.faults.map { "\($0.field): \($0.reason)" }
    }

    @Test func `The key file is read, and what is wrong with it is said`() throws {
        #expect(try faults(file()) == [])
        let field = "\(Self.field).serviceAccount: file "
        func fault(_ change: (inout [String: JSONValue]) -> Void) throws -> String {
            let faults = try faults(file(change))
            #expect(faults.count == 1 && faults[0].hasPrefix(field))
            return faults.first ?? ""
        }
        #expect(
            try fault { $0["project_id"] = nil }.hasSuffix(
                "it has no \"project_id\"; name the project: fcm.project"))
        #expect(try fault { $0["project_id"] = .string("A B") }.contains("its project_id \"A B\" is not a project id"))
        #expect(try fault { $0["client_email"] = nil }.contains("it has no \"client_email\""))
        #expect(try fault { $0["private_key"] = .string("x") }.contains("its private_key"))
        #expect(try fault { $0 = ["project_info": .object([])] }.contains("it is the app's google-services.json"))
        #expect(try faults(file { $0["project_id"] = nil }, "project: \"example-project\"") == [])
        #expect(try faults("/nowhere/key.json").first?.contains("does not exist") == true)
    }

    private func warnings(_ path: String, _ more: String = "") throws -> [String] {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let configuration = try parsed(Self.android("{ serviceAccount: { file: \"\(path)\" }, \(more) }"))
        let report = ConfigurationCheck(configuration: configuration, environment: [:]).runFiles()
        #expect(report.faults.isEmpty)
        return report.warnings.map { "\($0.field): \($0.reason)" }
    }

    @Test func `A token endpoint that is not Google's is pointed at`() throws {
        func file(_ address: String) throws -> String {
            let path = try self.file { $0["token_uri"] = .string(address) }
            chmod(path, 0o600)
            return path
        }
        let field = "\(Self.field).serviceAccount: file "
        for address in [
            "https://oauth2.googleapis.com/token", "https://accounts.google.com/o/oauth2/token",
            "https://WWW.googleapis.com:443/oauth2/v4/token",
        ] {
            #expect(try warnings(file(address)) == [], "\(address)")
        }
        #expect(
            try warnings(file("https://127.0.0.1:8443/token"), "server: \"https://127.0.0.1:8443\"") == [],
            "where a server of one's own is named, its host is no surprise")
        for address in [
            "https://example.com/token", "https://oauth2.googleapis.com.example.com/token",
            "https://evilgoogleapis.com/token", "https://127.0.0.1:8443/token",
        ] {
            let found = try warnings(file(address))
            #expect(found.count == 1 && found[0].hasPrefix(field), "\(address): \(found)")
            #expect(found.first?.contains("its token_uri is \"\(address.prefix(24))") == true, "\(found)")
        }
        let plain = try file("http://oauth2.googleapis.com/token")
        #expect(try faults(plain).first?.contains("its token_uri is no https address") == true)
    }

    @Test func `A secret that everybody may read is pointed at`() throws {
        let path = try file()
        chmod(path, 0o644)
        #expect(
            try warnings(path) == [
                "\(Self.field).serviceAccount: file \(path) is readable for everybody (mode 0644); chmod 640 or less"
            ])
        for mode in [0o600, 0o640, 0o660] as [mode_t] {
            let path = try file()
            chmod(path, mode)
            #expect(try warnings(path) == [])
        }
        // It is not where no other user may enter the folder.
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let inside = folder.appending(path: "key.json").path
        let open = try file()
        chmod(open, 0o644)
        try FileManager.default.moveItem(atPath: open, toPath: inside)
        #expect(try warnings(inside) == [])
    }
}
