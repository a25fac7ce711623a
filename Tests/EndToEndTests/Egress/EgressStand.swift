// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import HookReceiver
import Signing
import StorePeers
import TestPeers
import WireFormat

@testable import PushSimulator

/// A stand-in for each kind of server that a relay dials. This machine cannot resolve their names, and their certificates are of an
/// authority that no system trusts.
final class EgressStand {
    /// The host name of each kind. A new kind of server gets its own here, and a stand-in below.
    static func host(_ destination: Destination) -> String? {
        switch destination {
        case .apns: "apns.relay.test"
        case .fcm: "fcm.relay.test"
        case .googleTokens: "tokens.relay.test"
        case .appStore: "lookup.relay.test"
        case .appStoreConnect: "connect.relay.test"
        case .googlePlay: "play.relay.test"
        case .launchGate: "gate.relay.test"
        case .receiver: "hook.relay.test"
        // The commands' --url: the operator's own machine dials it, and no configuration is read there.
        case .relay: nil
        }
    }

    static let hosts = Destination.allCases.compactMap(host)

    let identity: TestIdentity
    let folder: URL
    let apns: PushSimulator
    let fcm: PushSimulator
    let connect: ConnectStandIn
    let play: PlayStandIn
    let lookup: HookReceiver
    let gate: HookReceiver
    let receiver: HookReceiver
    private let key: ES256PrivateKey

    init() throws {
        identity = try TestIdentity(names: Self.hosts, addresses: [])
        folder = FileManager.default.temporaryDirectory.appending(path: "egress-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        key = try ES256PrivateKey.generate()
        var service = SimulatorConfiguration(
            topics: [Workbench.app], teamID: Workbench.teamID, keys: [Workbench.keyID: key.publicKey])
        service.certificate = .files(chain: identity.chainPath, key: identity.keyPath)
        apns = try PushSimulator(service)
        try apns.start()
        var project = try FCMProject()
        project.otherHosts = [Self.host(.googleTokens) ?? ""]
        var other = SimulatorConfiguration(project)
        other.certificate = .files(chain: identity.chainPath, key: identity.keyPath)
        fcm = try PushSimulator(other)
        try fcm.start()
        let connectHost = Self.host(.appStoreConnect) ?? ""
        connect = try ConnectStandIn(
            keys: ["2X9R4HXF34": key.publicKey], identity: identity, host: connectHost
        ) { _ in .init(body: "") }
        let page = ConnectSample.page([.init(version: "2.0.0")], server: connect.address)
        connect.set { _ in .init(body: page) }
        play = try PlayStandIn(identity: identity, host: Self.host(.googleTokens) ?? "")
        play.change { $0.list.body = PlaySample.list(PlaySample.summary("2.0.0", [200])) }
        lookup = try Self.page(
            identity,
            #"{"resultCount":1,"results":[{"version":"2.1.0","bundleId":"\#(Workbench.app)","kind":"software","#
                + #""wrapperType":"software","currentVersionReleaseDate":"2016-11-20T21:03:47Z","trackId":1173193999}]}"#
        )
        gate = try Self.page(identity, #"{"ios":{"requiredUpdate":{"minimumVersion":"2.0","message":"m"}}}"#)
        receiver = try HookReceiver(identity: identity) { _, _ in HookReceiver.response("204 No Content") }
        let tokens = FCMProject.tokenURL(host: Self.host(.googleTokens) ?? "", port: fcm.port)
        try write("key.p8", key.pem)
        try write("account.json", project.keyFile(tokenURL: tokens))
        try write("play.json", try play.accountFile())
        try write("hook-secret", Array(HookReceiver.secret.utf8))
    }

    deinit {
        apns.stop()
        fcm.stop()
        connect.stop()
        play.stop()
        for peer in [lookup, gate, receiver] { peer.stop() }
        try? FileManager.default.removeItem(at: folder)
    }

    private static func page(_ identity: TestIdentity, _ body: String) throws -> HookReceiver {
        try HookReceiver(identity: identity) { _, _ in
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        }
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: folder.appending(path: name))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name))
    }

    /// The servers of each kind, as "apns.relay.test:40123". FCM's tokens and Google Play's come from two.
    func servers(_ destination: Destination) -> [String] {
        let ports: [UInt16] =
            switch destination {
            case .apns: [apns.port]
            case .fcm: [fcm.port]
            case .googleTokens: [fcm.port, play.port]
            case .appStore: [lookup.port]
            case .appStoreConnect: [connect.address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0]
            case .googlePlay: [play.port]
            case .launchGate: [gate.port]
            case .receiver: [receiver.port]
            case .relay: []
            }
        return ports.map { "\(Self.host(destination) ?? ""):\($0)" }
    }

    private func server(_ destination: Destination) -> String { "https://\(servers(destination)[0])" }

    /// - Parameters:
    ///   - egress: the whole object.
    ///   - own: further keys of each address.
    func configure(egress: String, own: String = "") throws {
        let text = """
            {
              store: { sqlite: { path: "\(path("relay.db"))" } },
              listen: { address: "127.0.0.1:0", controlSocket: "\(path("control.sock"))" },
              egress: \(egress),
              notify: [{ url: "\(server(.receiver))/hook", secret: { file: "\(path("hook-secret"))" }, \(own) }],
              apps: {
                "\(Workbench.app)": {
                  ios: {
                    apns: {
                      teamId: "\(Workbench.teamID)", keyId: "\(Workbench.keyID)", key: { file: "\(path("key.p8"))" },
                      server: "\(server(.apns))", sandboxServer: "\(server(.apns))", \(own)
                    },
                    sources: [
                      { launchGate: { url: "\(server(.launchGate))/gate.json", \(own) } },
                      { appStore: { id: 1173193999, lookupServer: "\(server(.appStore))", \(own) } },
                      { appStoreConnect: { appId: \(ConnectSample.appID), issuerId: "\(ConnectSample.issuer)",
                        keyId: "2X9R4HXF34", key: { file: "\(path("key.p8"))" }, server: "\(connect.address)", \(own) } },
                    ],
                  },
                  android: {
                    fcm: { serviceAccount: { file: "\(path("account.json"))" }, server: "\(server(.fcm))", \(own) },
                    sources: [{ googlePlay: { key: { file: "\(path("play.json"))" }, server: "\(server(.googlePlay))", \(own) } }],
                  },
                },
              },
            }
            """
        try write("config.json5", Array(text.utf8))
    }

    func check(environment: [String: String] = [:]) throws -> (result: CommandResult, json: JSONValue) {
        let result = try CommandResult.of(
            ["check-config", path("config.json5"), "--online", "--json"], environment: environment)
        return (result, try JSONReader.read(Array(result.output.utf8)))
    }
}
