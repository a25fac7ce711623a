// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules
import VersionSources
import WireFormat

@testable import Configuration

/// The values of a configuration without faults.
@Suite struct ConfigurationReadingTests {
    @Test func `Only what the owner alone can know is needed`() throws {
        let text = """
            // A comment.
            { apps: { 'com.example.app': { ios: { apns: { teamId: 'ABCDE12345', keyId: 'FGHIJ67890',
                key: { credential: 'apns-key' }, }, }, }, }, }
            """
        let configuration = try ConfigurationFile.parse(Array(text.utf8), path: "test")
        let app = try #require(configuration.apps.first { $0.key == AppKey(app: "com.example.app", platform: .ios) })
        #expect(configuration.store.database == .sqlite(path: "/var/lib/upgrade-relay/relay.db"))
        #expect("\(configuration.listen.address)" == "127.0.0.1:8480")
        #expect(configuration.listen.controlSocket == "/run/upgrade-relay/control.sock")
        #expect(configuration.webhooks.secrets.isEmpty)
        #expect(app.push == PushConfiguration())
        #expect(app.push.type == "needUpgrade")
        #expect(app.push.timeToLive == .seconds(604_800))
        #expect(configuration.fanOut == FanOutConfiguration())
        #expect(app.apns?.topic == "com.example.app")
        #expect(app.apns?.server.description == "https://api.push.apple.com")
        #expect(app.apns?.sandboxServer.description == "https://api.sandbox.push.apple.com")
        let key = APNsKey(keyID: "FGHIJ67890", file: .credential("apns-key"))
        #expect(app.apns?.credentials == .keys(teamID: "ABCDE12345", key, sandbox: nil))
    }

    @Test func `An app that only asks at login says so with null`() throws {
        let configuration = try ConfigurationFile.parse(
            Array("{ apps: { a: { ios: { apns: null } } } }".utf8), path: "test")
        #expect(configuration.apps.map(\.apns) == [nil])
    }

    @Test func `A server of one's own stands for the sandbox too`() throws {
        let text = """
            { apps: { a: { ios: { apns: { teamId: "ABCDE12345", keyId: "FGHIJ67890", key: { file: "/k" },
                server: "https://127.0.0.1:2197", trustedCertificates: "/ca.pem" } } } } }
            """
        let apns = try #require(try ConfigurationFile.parse(Array(text.utf8), path: "test").apps.first?.apns)
        #expect(apns.server == ServerAddress(host: "127.0.0.1", port: 2197))
        #expect(apns.sandboxServer == apns.server)
        #expect(!apns.triesOtherEnvironment)
        #expect(apns.egress.trustedCertificates == "/ca.pem")
    }

    @Test func `The other environment is tried where two servers are`() throws {
        for servers in ["", ", server: \"https://127.0.0.1:2197\", sandboxServer: \"https://127.0.0.1:2198\""] {
            let text = ConfigurationFaultTests.ios(apns: "tryOtherEnvironment: true\(servers)")
            let apns = try #require(try ConfigurationFile.parse(Array(text.utf8), path: "test").apps.first?.apns)
            #expect(apns.triesOtherEnvironment)
            #expect(apns.sandboxServer != apns.server)
        }
    }

    @Test func `Sources, force policy and hold are read`() throws {
        let text = """
            { apps: { "com.example.app": { ios: {
                forcePolicy: "minor", retireBelow: 0.005, seenWithin: "60d",
                holdHours: 0,
                apns: { teamId: "ABCDE12345", keyId: "FGHIJ67890", key: { credential: "apns-key" } },
                sources: [
                  { appStore: { id: 1173193999, bundleId: "com.example.app", country: "CN", every: "30m" } },
                  { launchGate: { file: "/srv/gate.json" } },
                  { launchGate: { url: "https://example.com/gate.json", every: "1m" } },
                ],
            } } } }
            """
        let app = try #require(try ConfigurationFile.parse(Array(text.utf8), path: "test").apps.first)
        #expect(app.forcePolicy == .minor)
        #expect(app.retirement.retireBelow == 0.005 && app.retirement.seenWithin == .seconds(60 * 86_400))
        #expect(app.gateRules.hold == .zero)
        #expect(
            app.sources == [
                .appStore(
                    AppStoreSource(
                        trackID: 1_173_193_999, bundleID: "com.example.app", country: "cn", every: .seconds(1800))),
                .launchGateFile(path: "/srv/gate.json"),
                .launchGateURL(LaunchGateURLSource(url: "https://example.com/gate.json", every: .seconds(60))),
            ])
    }

    @Test func `The contract's own example is read`() throws {
        let text = """
            {
              store: { sqlite: { path: "/var/lib/upgrade-relay/relay.db" } },
              listen: { address: "127.0.0.1:8480", tls: null, controlSocket: "/run/upgrade-relay/control.sock" },
              webhooks: { secrets: [{ credential: "webhook-secret" }] },
              apps: {
                "com.example.app": {
                  ios: {
                    downloadUrl: "https://apps.apple.com/app/id1173193999",
                    forcePolicy: "manual",
                    push: { type: "mddy_needUpgrade", alert: "A new version is required.", priority: 10, timeToLive: "7d" },
                    apns: { teamId: "ABCDE12345", keyId: "FGHIJ67890", key: { credential: "apns-key" }, topic: "com.example.app",
                            server: null, trustedCertificates: null },
                    sources: [],
                  },
                },
              },
            }
            """
        let configuration = try ConfigurationFile.parse(Array(text.utf8), path: "test")
        #expect(configuration.webhooks.secrets == [.init(source: .credential("webhook-secret"))])
        #expect(configuration.apps.first?.push.type == "mddy_needUpgrade")
        #expect(configuration.apps.first?.downloadURL == "https://apps.apple.com/app/id1173193999")
    }
}
