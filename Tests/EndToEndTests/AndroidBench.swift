// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import PushSimulator
import SeedApps
import Testing
import WireFormat

/// One relay with an Android app: a stand-in for FCM with its token endpoint on loopback, and the real binary.
final class AndroidBench {
    static let app = "com.example.app"

    let folder: URL
    let simulator: PushSimulator
    private(set) var relay: RelayProcess?
    /// The registered users, by token.
    private var telephones: [String: String] = [:]

    /// - Parameters:
    ///   - push: further keys of the app's `push`.
    ///   - fcm: further keys of its `fcm`.
    init(
        push: String = "", fcm: String = "", configure: (inout SimulatorConfiguration) -> Void = { _ in }
    ) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = SimulatorConfiguration(try FCMProject())
        configuration.certificate = .generated(directory: folder.path)
        configuration.recordPath = folder.appending(path: "record.ndjson").path
        configure(&configuration)
        simulator = try PushSimulator(configuration)
        try simulator.start()
        try Data(simulator.accountFile ?? []).write(to: folder.appending(path: "account.json"))
        let text = """
            {
              store: { sqlite: { path: "\(path("relay.db"))" } },
              listen: { address: "127.0.0.1:0", controlSocket: "\(path("control.sock"))" },
              apps: { "\(Self.app)": { android: {
                downloadUrl: "https://play.google.com/store/apps/details?id=\(Self.app)",
                push: { type: "needUpgrade", \(push) },
                fcm: {
                  serviceAccount: { file: "\(path("account.json"))" }, server: "https://127.0.0.1:\(simulator.port)",
                  trustedCertificates: "\(path("push-simulator-ca.pem"))",
                  // No test waits for a quarter of an hour, nor for a rate that rises within a minute.
                  avoidQuarterHours: false, quotaPerMinute: 600000000, \(fcm)
                },
              } } },
            }
            """
        try Data(text.utf8).write(to: folder.appending(path: "config.json5"))
    }

    deinit {
        relay?.kill()
        simulator.stop()
        judge()
        try? FileManager.default.removeItem(at: folder)
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    func start() throws {
        relay = try RelayProcess(configuration: path("config.json5"), arguments: ["--log-level", "info"])
        try relay?.waitUntilReady()
    }

    func kill() {
        relay?.kill()
        relay = nil
    }

    func api(_ method: String, _ path: String, body: String? = nil) throws -> JSONValue {
        var request = HTTPRequest(method, "http://localhost\(path)")
        if let body { request.body = Array(body.utf8) }
        let response = try HTTPClient(unixSocket: self.path("control.sock")).send(request)
        guard (200..<300).contains(response.status) else {
            throw Unexpected("\(method) \(path): \(response.status) \(String(decoding: response.body, as: UTF8.self))")
        }
        return try JSONReader.read(response.body)
    }

    func register(_ fleet: Fleet) throws {
        for start in stride(from: 0, to: fleet.devices.count, by: 20_000) {
            let part = fleet.devices[start..<min(start + 20_000, fleet.devices.count)]
            let answer = try api(
                "POST", "/v1/apps/\(Self.app)/android/devices", body: part.map(\.json).joined(separator: "\n"))
            guard answer["stored"]?.integer == Int64(part.count) else { throw Unexpected("import: \(answer)") }
        }
        for device in fleet.devices { telephones[device.token] = device.telephone }
    }

    /// - Returns: the campaign's id.
    func require(_ version: String) throws -> String {
        let answer = try api(
            "PUT", "/v1/apps/\(Self.app)/android/version", body: #"{"required":"\#(version)","confirm":true}"#)
        guard let id = answer["campaign"]?["id"]?.string else { throw Unexpected("no campaign: \(answer)") }
        return id
    }

    /// Returns the campaign when it is final. Asks at each line of the daemon's log, and every 50 ms.
    func end(of campaign: String) throws -> CampaignView {
        let deadline = ContinuousClock.now + .seconds(60) * Patience.factor
        while true {
            let json = try api("GET", "/v1/campaigns/\(campaign)")
            let view = try CampaignView(json.bytes())
            if view.isFinal { return view }
            guard ContinuousClock.now < deadline, let relay else { throw Unexpected("it does not end: \(view)") }
            relay.waitForNextLine(atMost: .milliseconds(50))
        }
    }

    func record() throws -> [JSONValue] {
        try Data(contentsOf: folder.appending(path: "record.ndjson")).split(separator: UInt8(ascii: "\n"))
            .map { try JSONReader.read(Array($0)) }
    }

    /// Checks that every accepted push is right for the phone of its own user and dropped by another user's.
    private func judge() {
        do {
            for push in try record() {
                let token = push["token"]?.string ?? ""
                guard let user = telephones[token], let body = push["payload"]?.bytes() else {
                    Issue.record("\(token) was pushed to and has no user")
                    continue
                }
                var (own, other) = (
                    SeedAndroidClient(userTelephone: user), SeedAndroidClient(userTelephone: user + "0")
                )
                own.pushType = "needUpgrade"
                other.pushType = "needUpgrade"
                guard case .accepted = own.receive(body) else { Issue.record("the phone drops \(push)"); continue }
                #expect(other.receive(body) == .dropped(.otherUser))
            }
        } catch {
            Issue.record(error, "the record of pushes")
        }
    }
}
