// SPDX-License-Identifier: Apache-2.0
import FanOut
import Foundation
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Signing
import Telemetry
import TestPeers
import TestStores
import Testing
import UpgradeRules

@testable import Configuration
@testable import RelayDaemon

/// The configuration of Android apps, as the fan-out gets it.
@Suite struct AndroidRoutesTests {
    private let folder: String
    private let store: any TestStore
    private let tokenSources = TokenSources()

    private static let key = Result { try RS256PrivateKey.generate() }

    init() throws {
        folder = try TestFolder.make()
        store = try openStore("\(folder)/relay.db")
        try write("k1")
    }

    private func write(_ keyID: String) throws {
        let pem = String(decoding: try Self.key.get().pem, as: UTF8.self).replacing("\n", with: "\\n")
        let text = """
            {"type":"service_account","project_id":"example-project","private_key_id":"\(keyID)",
            "private_key":"\(pem)","client_email":"relay@example-project.iam.gserviceaccount.com"}
            """
        try Data(text.utf8).write(to: URL(filePath: "\(folder)/key.json"))
    }

    private func routes(_ extra: String = "", push: String = "") throws -> [AppRoute] {
        let fcm = "serviceAccount: { file: \"\(folder)/key.json\" }, \(extra)"
        let text = """
            { apps: {
              a: { android: { downloadUrl: "https://example.com", push: { \(push) }, fcm: { \(fcm) },
                              pace: { ratePerSecond: 5, waves: [10, 100] } } },
              b: { android: { fcm: { \(fcm) } }, ios: { apns: null } },
              c: { android: {} },
            } }
            """
        let builder = RouteBuilder(
            store: store, environment: [:], tokenSources: tokenSources,
            log: Log(minimum: .error) { _, _, _ in },
            clock: { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) })
        return try builder.routes(for: ConfigurationFile.parse(Array(text.utf8), path: "test"))
    }

    @Test func `An Android app with fcm has a route, and one without has none`() throws {
        let routes = try routes()
        #expect(routes.map(\.app.app) == ["a", "b"] && routes.allSatisfy { $0.app.platform == .android })
        let route = try #require(routes.first)
        #expect(route.main.provider.name == "FCM")
        #expect(
            route.service(.production).pool.origin.authority == "fcm.googleapis.com"
                && route.service(.production).pool == route.service(.sandbox).pool)
        #expect(route.service(.production).pool.connection.maximumStreams == 100)
        #expect(route.pace?.ratePerSecond == 5 && route.waves?.count == 2)
        #expect(
            route.main.provider.quota
                == QuotaLimit(project: "FCM/example-project", perMinute: 600_000, avoidsQuarterHours: true))
    }

    @Test func `Apps of one key file share its tokens, across reloads too`() throws {
        let (old, new) = (try routes(), try routes())
        #expect(old[0].main.provider.credential == old[1].main.provider.credential)
        #expect(old[0] == new[0], "a reload that changes nothing")
        try write("k2")
        let other = try routes()
        #expect(other[0].main.provider.credential != old[0].main.provider.credential)
        #expect(other[0] != old[0])
        #expect(try routes("project: \"other-project\"")[0].main.provider.identity != other[0].main.provider.identity)
    }

    /// A route that counts as the same after a reload keeps the old words.
    @Test(arguments: [
        ("", "alert: \"Now\""), ("", "sound: \"default\""),
        ("notification: { title: \"T\" }", "alert: { locKey: \"K\" }"),
        ("notification: { title: \"T\" }", ""), ("analyticsLabel: \"upgrade\"", ""),
        ("bandwidthConstrainedOk: true", ""), ("restrictedSatelliteOk: true", ""),
    ])
    func `A reload that changes what is said makes another route`(fcm: String, push: String) throws {
        #expect(try routes(fcm, push: push)[0] != routes(push.isEmpty ? "" : fcm)[0])
        #expect(try routes(fcm, push: push)[0] == routes(fcm, push: push)[0])
    }

    @Test func `The push's priority is FCM's`() throws {
        let payload = UpgradePayload(type: "t", alert: "a", downloadURL: "u")
        for (priority, word) in [(10, "high"), (5, "normal"), (1, "normal")] {
            let body = try routes(push: "priority: \(priority)")[0].main.provider.sample(
                payload, telephone: "1", timeToLive: .zero
            ).body
            #expect(String(decoding: body, as: UTF8.self).contains(#""priority":"\#(word)""#))
        }
    }
}
