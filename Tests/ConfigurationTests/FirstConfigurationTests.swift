// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import Testing
import UpgradeRules
import WireFormat

@testable import Configuration

/// The file that `init` writes is a configuration, with the answers that were given.
@Suite struct FirstConfigurationTests {
    private static let ios = FirstConfiguration(
        app: AppKey(app: "com.example.app", platform: .ios), downloadURL: "https://apps.apple.com/app/id1173193999",
        service: .apns(teamID: "ABCDE12345", keyID: "FGHIJ67890"), arrival: .webhook, directory: "/etc/upgrade-relay")

    private func read(_ configuration: FirstConfiguration) throws -> RelayConfiguration {
        try ConfigurationFile.parse(Array(configuration.text.utf8), path: configuration.path)
    }

    @Test func `The service's has its secrets from systemd, and everything else where it is by itself`() throws {
        let read = try read(Self.ios)
        #expect(Self.ios.isOfService && Self.ios.path == "/etc/upgrade-relay/config.json5")
        #expect(read.store.database == StoreConfiguration().database)
        #expect(read.listen.controlSocket == "/run/upgrade-relay/control.sock")
        #expect(read.webhooks.secrets.map(\.source) == [.credential("webhook-secret")])
        let app = try #require(read.apps.first)
        #expect(app.key == Self.ios.app && app.downloadURL == Self.ios.downloadURL)
        #expect(app.apns?.topic == "com.example.app")
        #expect(app.sources.isEmpty)
    }

    @Test func `Another folder has all of it`() throws {
        var configuration = Self.ios
        configuration.directory = "/tmp/relay"
        let read = try read(configuration)
        #expect(read.listen.controlSocket == "/tmp/relay/control.sock")
        #expect(read.webhooks.secrets.map(\.source) == [.file("/tmp/relay/secrets/webhook-secret")])
        #expect(configuration.place("apns-key") == .file("/tmp/relay/secrets/apns-key"))
    }

    @Test(arguments: FirstConfiguration.Arrival.allCases, [nil, "https://127.0.0.1:2197"])
    func `Each way in which versions arrive, with Apple's server and another`(
        arrival: FirstConfiguration.Arrival, server: String?
    ) throws {
        var configuration = Self.ios
        configuration.arrival = arrival
        configuration.server = server
        configuration.trustedCertificates = server.map { _ in "/tmp/ca.pem" }
        let app = try #require(try read(configuration).apps.first)
        #expect(app.sources.count == (arrival == .store ? 1 : 0))
        if server != nil { #expect(app.apns?.server.host == "127.0.0.1") }
    }

    @Test func `An iOS app's by FCM`() throws {
        var configuration = Self.ios
        configuration.service = .fcm
        let app = try #require(try read(configuration).apps.first)
        #expect(app.key == Self.ios.app && app.fcm?.serviceAccount == .credential("fcm-account") && app.apns == nil)
    }

    @Test func `Android's`() throws {
        let configuration = FirstConfiguration(
            app: AppKey(app: "com.example.app", platform: .android),
            downloadURL: "https://play.google.com/store/apps/details?id=com.example.app", service: .fcm,
            arrival: .command, directory: "/etc/upgrade-relay")
        let app = try #require(try read(configuration).apps.first)
        #expect(app.key == configuration.app && app.fcm != nil && app.apns == nil)
    }

    @Test func `What was typed stays text`() throws {
        var configuration = Self.ios
        configuration.downloadURL = "https://example.com/\"], apps: {} // */ \u{2028} \\"
        let text = configuration.text
        #expect(text.contains(#"https://example.com/\"], apps"#))
        // It is one value, whether or not the rules for addresses allow it.
        do {
            #expect(try read(configuration).apps.count == 1)
        } catch let error as ConfigurationError {
            #expect(error.faults.map(\.field) == [#"apps["com.example.app"].ios.downloadUrl"#], "\(error)")
        }
    }

    @Test func `A wrong id is named by its field`() throws {
        var configuration = Self.ios
        configuration.service = .apns(teamID: "ABC", keyID: "FGHIJ67890")
        let error = try #require(throws: ConfigurationError.self) { try read(configuration) }
        #expect(error.faults.map(\.field) == [#"apps["com.example.app"].ios.apns.teamId"#], "\(error)")
    }
}
