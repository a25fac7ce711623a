// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import CurlTransport
import FanOut
import Foundation
import Notifications
import RelayEngine
import RelayStore
import Requirements
import Signing
import StatusPage
import Synchronization
import Telemetry
import Terminal
import TestPeers
import TestStores
import VersionSources
import WireFormat

@testable import ClientCommands
@testable import Configuration
@testable import HTTPServer
@testable import RelayAPI
@testable import RelayDaemon

/// The daemon's own parts in this process: its API at a control socket, over a store and a fan-out whose push service is
/// never reached.
final class RealDaemon: Sendable {
    static let app = "com.example.app"

    let folder: String
    let store: any TestStore
    private let fanOut: FanOut
    private let notifier: Notifier
    private let server: APIServer
    let requirements: RequirementControl
    /// How often the open paths' versions were read.
    let versionReads = VersionReads()
    /// Called at each decision, before it is shown.
    let decisions = Decisions()

    final class Decisions: Sendable {
        let watcher = Mutex<(@Sendable () -> Void)?>(nil)
    }

    /// The versions that the fan-out's last look found.
    let looks = Watched<[VersionRecord]>([])

    final class VersionReads: Sendable {
        let count = Atomic<Int>(0)
    }

    private var socket: String { "\(folder)/control.sock" }

    /// - Parameters:
    ///   - key: the key of its provider tokens; nil: a new one.
    ///   - push: the push service and the file of its authority; nil: a service that is never reached.
    ///   - more: further keys of the app, each with its comma.
    ///   - onEnter: called before each transaction of its store and each look at it.
    init(
        key: ES256PrivateKey? = nil, push: (origin: String, authority: String)? = nil, more: String = "",
        onEnter: (@Sendable () -> Void)? = nil
    ) throws {
        folder = try TestFolder.make()
        try PrivateFile.write((key ?? .generate()).pem, to: "\(folder)/key.p8")
        try PrivateFile.write(Array("a secret of the receiver".utf8), to: "\(folder)/secret")
        let text = """
            {
              notify: [{ url: "http://127.0.0.1:1/hook", secret: { file: "\(folder)/secret" } }],
              apps: { "\(Self.app)": { ios: {
                downloadUrl: "https://example.com/app",
                apns: { teamId: "TEAM123456", keyId: "KEY1234567", key: { file: "\(folder)/key.p8" },
                        server: "\(push?.origin ?? "https://127.0.0.1:1")"\(push.map { ", trustedCertificates: \"\($0.authority)\"" } ?? "") },
                \(more)
              } } },
            }
            """
        let configuration = try ConfigurationFile.parse(Array(text.utf8), path: "test")
        let log = Log(minimum: .error) { _, _, _ in }
        let clock: @Sendable () -> Timestamp = {
            Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
        }
        let tokenSources = TokenSources()
        store = try openStore("\(folder)/relay.db", release: CommandLineTool.version, onEnter: onEnter)
        let active = ActiveConfiguration.Shared(
            try ActiveConfiguration(
                configuration, store: store, environment: [:], tokenSources: tokenSources,
                log: log, clock: clock))
        let versionCache = VersionCache(store: store, clock: clock) { [versionReads] in
            versionReads.count.add(1, ordering: .relaxed)
            return active.current.profiles
        }
        // The cache has the store: held by it, both would stay after the daemon's end.
        store.decisions.hear { [decisions, weak versionCache] fact in
            decisions.watcher.withLock { $0 }?()
            versionCache?.take(fact)
        }
        let sources = try SourceRunner(store: store, log: log, clock: clock)
        fanOut = try FanOut(
            store: store, routes: Array(active.current.routes.values), configuration: FanOut.Configuration(), log: log,
            clock: clock,
            surroundings: { app, draft, now in
                sources.surroundings(of: app, draft: draft, rules: active.current.rules(of: app), nil, at: now)
            },
            onVersions: { [looks] records in
                versionCache.note(records)
                looks.change { $0 = records }
            })
        notifier = Notifier(store: store, log: log, clock: clock) { NotificationDocument.body(of: $0, in: $1) }
        requirements = RequirementControl(
            store: store, apps: { active.current.apps }, routes: { active.current.routes }, progress: fanOut,
            sources: sources, versionCache: versionCache, log: log, clock: clock)
        let control = DaemonControl(
            store: store, control: requirements, active: active, fanOut: fanOut, sources: sources,
            notifier: notifier, tokenSources: tokenSources, reloads: ReloadRequests(startedAt: clock()) {},
            certificates: CertificateWatch(log: log), keeper: nil,
            ownNode: OwnNode(NodeDescription(name: "relay", release: "1"), startedAt: clock()),
            listen: ListenConfiguration(), log: log, clock: clock)
        let secret = try WebhookSecret(Self.secret)
        var settings = APISettings(
            listen: ListenAddress(host: "127.0.0.1", port: 0), controlSocket: "\(folder)/control.sock",
            webhookSecrets: { [secret] }, clock: clock, log: log)
        settings.rendering = StatusPage.rendering
        server = APIServer(
            store: store, control: control, settings: settings, versionCache: versionCache, page: StatusPage.routes)
        try server.start()
        try notifier.start(active.current.notify)
    }

    deinit {
        fanOut.stop(within: .zero)
        server.stop()
        notifier.stop()
        store.close()
    }

    /// The stored versions of an app.
    func record(of app: AppKey) throws -> VersionRecord? { try store.version(of: app) }

    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// Sends a webhook through the API on the calling thread, past the sockets.
    func walk(_ body: [UInt8], id: String, path: String = "/v1/webhooks/version") throws -> Response {
        let time = String(Int64(Date.now.timeIntervalSince1970))
        let key = Base64.decode(String(Self.secret.dropFirst(6))) ?? []
        let code = Base64.encode(HMACSHA256.code(Array("\(id).\(time).".utf8) + body, key: key))
        var head = RequestHead(method: "POST", target: path)
        for (name, value) in [
            ("webhook-id", id), ("webhook-timestamp", time), ("webhook-signature", "v1,\(code)"),
        ] {
            head.headers.append(name, value)
        }
        let request = server.api.handle(head)
        guard case .work(_, let admit) = request.open(), case .collect(_, let finish) = admit() else {
            throw CommandFailure(.failed, "\(path) does not take a body")
        }
        return request.conclude(finish(body))
    }

    /// Asks its API: over the control socket, or with a webhook's signature over TCP.
    func ask(
        _ method: String, _ path: String, _ body: [UInt8], as type: String = "application/json", isWebhook: Bool = false
    ) throws -> (status: Int, text: String) {
        let base = isWebhook ? "http://127.0.0.1:\(server.http.port ?? 0)" : "http://relay"
        var request = HTTPRequest(method, base + path)
        request.headers = [(name: "content-type", value: type)]
        if isWebhook {
            let id = UUID().uuidString
            let time = Int64(Date.now.timeIntervalSince1970)
            let key = Base64.decode(String(Self.secret.dropFirst(6))) ?? []
            let code = Base64.encode(HMACSHA256.code(Array("\(id).\(time).".utf8) + body, key: key))
            let digest = Hex.encode(HMACSHA256.code(body, key: Array(Self.secret.utf8)))
            request.headers +=
                path.contains("github")
                ? [
                    (name: "X-Hub-Signature-256", value: "sha256=\(digest)"),
                    (name: "X-GitHub-Event", value: "release"),
                    (name: "X-GitHub-Delivery", value: id),
                ]
                : [
                    (name: "webhook-id", value: id), (name: "webhook-timestamp", value: String(time)),
                    (name: "webhook-signature", value: "v1,\(code)"),
                ]
        }
        request.body = body
        let answer = try (isWebhook ? HTTPClient() : HTTPClient(unixSocket: socket)).send(request)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// Runs one command against this daemon.
    func run(_ words: [String]) async -> (code: ExitCode, out: String, err: String) {
        let transcript = Transcript()
        let tree = CommandTree(commands: CommandTree.client, leadingOptions: ConnectionOptions.specs)
        let code = await transcript.run(words + ["--socket", socket], of: tree)
        return (code, transcript.out, transcript.err)
    }

    /// Runs one command whose words have no spaces.
    func run(_ line: String) async -> (code: ExitCode, out: String, err: String) {
        await run(line.split(separator: " ").map(String.init))
    }

    /// Registers one device that a rise to 2.0.0 reaches, one without a telephone, and one that has it already.
    func register() async throws -> [String] {
        let tokens = ["aa", "bb", "cc"].map { String(repeating: $0, count: 32) }
        let lines = [
            "token,telephone,version,environment", "\(tokens[0]),13800138000,1.0.0,production",
            "\(tokens[1]),,1.0.0,sandbox", "\(tokens[2]),13800138001,2.0.0,production",
        ]
        let path = "\(folder)/devices.csv"
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
        let result = await run("devices import \(path) --app \(Self.app) --platform ios")
        guard result.code == .done else { throw CommandFailure(result.code, result.err) }
        return tokens
    }

    /// Announces 2.0.0 and returns the campaign's id.
    func announce() async throws -> String {
        let result = await run("version set \(Self.app) ios --required 2.0.0 --latest 2.1.0")
        guard let id = result.out.firstMatch(of: /campaign (\w+) started/)?.output.1 else {
            throw CommandFailure(result.code, result.out + result.err)
        }
        return String(id)
    }
}
