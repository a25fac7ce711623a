// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Signing
import StorePeers
import TestPeers
import Testing

@testable import PushSimulator

/// The texts of `/readyz` and `campaigns watch` in each of fifteen troubles, with the real binary: one relay with an app for each
/// trouble of an app. `etc/TROUBLESHOOTING.md` has the texts between two comments; `RELAY_RECORD=1` writes that part anew, so that a
/// change of words shows in a diff.
@Suite(.serialized, .ownThread) struct TroubleTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../etc/TROUBLESHOOTING.md").standardized
    /// The lines around the recorded part of the file.
    private static let begin = "<!-- Recorded by Tests/EndToEndTests/TroubleTests.swift -->"
    private static let end = "<!-- End of the recorded part -->"

    /// The push services, and the stores that are asked.
    private final class Stand {
        let bench: Workbench
        let out: PushSimulator
        let paused: PushSimulator
        let fcm: PushSimulator
        let nobody: Loopback.ReservedPort
        let nobodyElse: Loopback.ReservedPort
        let lookup: LookupStand
        let emptyLookup: LookupStand
        let connect: ConnectStandIn
        let play: PlayStandIn
        /// nil where mounting is not permitted.
        let disk: SmallDisk?

        init() throws {
            let apps = ["key", "sandbox", "app", "person", "canary", "source", "phased", "moving"].map {
                "com.example.\($0)"
            }
            bench = try Workbench {
                // The bench's jury knows only one app.
                $0.recordPath = nil
                if var team = $0.service.customer as? APNsTeam {
                    team.topics = Set(apps)
                    $0.service = .apns(team)
                }
            }
            let key = bench.key.publicKey
            let folder = bench.folder
            func simulator(_ name: String, _ faults: FaultScript, _ service: SimulatorConfiguration) throws
                -> PushSimulator
            {
                var configuration = service
                configuration.certificate = .generated(directory: folder.appending(path: name).path)
                configuration.faults = faults
                try FileManager.default.createDirectory(
                    at: folder.appending(path: name), withIntermediateDirectories: true)
                let simulator = try PushSimulator(configuration)
                try simulator.start()
                return simulator
            }
            func apns(_ app: String) -> SimulatorConfiguration {
                SimulatorConfiguration(topics: [app], teamID: Workbench.teamID, keys: [Workbench.keyID: key])
            }
            var failing = FaultScript()
            failing.serviceErrors = .init(afterN: 0, count: .max)
            out = try simulator("out", failing, apns("com.example.out"))
            var pausing = FaultScript()
            pausing.refusals = .init(
                afterN: 0, count: .max, reason: RejectionReason.tooManyProviderTokenUpdates.rawValue, retryAfter: 600)
            paused = try simulator("paused", pausing, apns("com.example.paused"))
            var busy = FaultScript()
            busy.refusals = .init(
                afterN: 0, count: .max, reason: RejectionReason.fcmQuotaExceeded.rawValue, retryAfter: 600)
            fcm = try simulator("fcm", busy, SimulatorConfiguration(try FCMProject()))
            try Data(fcm.accountFile ?? []).write(to: folder.appending(path: "account.json"))
            (nobody, nobodyElse) = (try Loopback.ReservedPort(), try Loopback.ReservedPort())
            (lookup, emptyLookup) = (try LookupStand(), try LookupStand())
            lookup.list("1.9.0")
            try Data(try ES256PrivateKey.generate().pem).write(to: folder.appending(path: "other.p8"))
            connect = try ConnectStandIn(keys: ["2X9R4HXF34": key]) { _ in .init(body: "") }
            disk = try SmallDisk(in: bench, megabytes: 16)
            let page = ConnectSample.page([.init(version: "2.0.0", phase: "PAUSED")], server: connect.address)
            connect.set { _ in .init(body: page) }
            play = try PlayStandIn()
            play.change {
                $0.list.body = PlaySample.list(PlaySample.summary("2.0.0", [200]))
                $0.track.body = PlaySample.track(PlaySample.rollout("2.0.0", [200], "halted", 0.2))
            }
            try Data(play.accountFile()).write(to: folder.appending(path: "play.json"))
            try bench.edit { _ in self.configuration }
        }

        var database: String { "\(disk?.folder.path ?? bench.folder.path)/relay.db" }

        func stop() {
            bench.kill()
            connect.stop()
            play.stop()
            for simulator in [out, paused, fcm] { simulator.stop() }
            for lookup in [lookup, emptyLookup] { lookup.stop() }
        }

        private func ios(
            _ name: String, server: UInt16, authority: String = "", key: String = "key.p8", more: String = "",
            apns: String = ""
        ) -> String {
            """
            "com.example.\(name)": { ios: { downloadUrl: "https://apps.apple.com/app/id1", \(more)
              apns: { teamId: "\(Workbench.teamID)", keyId: "\(Workbench.keyID)", key: { file: "\(bench.path(key))" },
                server: "https://127.0.0.1:\(server)", \(apns)
                trustedCertificates: "\(bench.path("\(authority)push-simulator-ca.pem"))" } } },
            """
        }

        private func store(_ stand: LookupStand, _ name: String) -> String {
            """
            holdHours: 0, sources: [{ appStore: { id: 1173193999, bundleId: "com.example.\(name)", every: "1s",
              lookupServer: "http://127.0.0.1:\(stand.port)" } }],
            """
        }

        private var connectSource: String {
            """
            sources: [{ appStoreConnect: { appId: \(ConnectSample.appID), issuerId: "\(ConnectSample.issuer)",
              keyId: "2X9R4HXF34", key: { file: "\(bench.path("key.p8"))" }, every: "30s", server: "\(connect.address)",
              trustedCertificates: "\(connect.authority)" } }],
            """
        }

        private var configuration: String {
            let good = bench.simulator.port
            return """
                { store: { sqlite: { path: "\(database)" } },
                  listen: { address: "127.0.0.1:0", controlSocket: "\(bench.path("control.sock"))" },
                  webhooks: { secrets: [{ file: "\(bench.path("webhook-secret"))" }] },
                  apps: {
                    \(ios("out", server: out.port, authority: "out/"))
                    \(ios("unreachable", server: nobody.port))
                    \(ios("key", server: good, key: "other.p8"))
                    \(ios("paused", server: paused.port, authority: "paused/"))
                    \(ios("sandbox", server: good,
                        apns: #"sandboxServer: "https://127.0.0.1:\#(nobodyElse.port)","#))
                    \(ios("app", server: good, more: store(lookup, "app")))
                    \(ios("source", server: good, more: store(emptyLookup, "source")))
                    \(ios("phased", server: good, more: connectSource))
                    \(ios("person", server: good, more: "pace: { ratePerSecond: 0.01 },"))
                    \(ios("canary", server: good))
                    \(ios("moving", server: good, more: "pace: { ratePerSecond: 2 },"))
                    "com.example.quota": { android: { downloadUrl: "https://play.google.com/store/apps/details?id=a",
                      fcm: { serviceAccount: { file: "\(bench.path("account.json"))" },
                        server: "https://127.0.0.1:\(fcm.port)", avoidQuarterHours: false,
                        trustedCertificates: "\(bench.path("fcm/push-simulator-ca.pem"))" } } },
                    "com.example.halted": { android: { downloadUrl: "https://play.google.com/store/apps/details?id=b",
                      sources: [{ googlePlay: { packageName: "com.example.app", key: { file: "\(bench.path("play.json"))" },
                        server: "https://127.0.0.1:\(play.port)", trustedCertificates: "\(play.identity.authorityPath)" } }],
                      fcm: { serviceAccount: { file: "\(bench.path("account.json"))" },
                        server: "https://127.0.0.1:\(fcm.port)", avoidQuarterHours: false,
                        trustedCertificates: "\(bench.path("fcm/push-simulator-ca.pem"))" } } },
                  } }
                """
        }

        /// Registers the app's devices and raises its requirement; returns the campaign's id.
        func raise(_ name: String, devices: Int = 100, sandbox: Int = 0, more: String = "") throws -> String {
            let platform = ["quota", "halted"].contains(name) ? "android" : "ios"
            let place = "/v1/apps/com.example.\(name)/\(platform)"
            let lines = (1...devices).map { number in
                let token = platform == "ios" ? String(format: "%064x", number) : "token-\(number)-of-a-phone"
                let environment = number <= sandbox ? "sandbox" : "production"
                return
                    #"{"token":"\#(token)","telephone":"\#(13_800_000_000 + number)","version":"1.9.0","environment":"\#(environment)"}"#
            }
            let stored = try bench.api(
                "POST", "\(place)/devices", body: Array(lines.joined(separator: "\n").utf8))
            guard stored.json["stored"] as? Int == devices else { throw Unexpected("\(stored)") }
            return try bench.campaign(
                of: bench.api(
                    "PUT", "\(place)/version", body: Array(#"{"required":"2.0.0","confirm":true\#(more)}"#.utf8)))
        }

        /// Waits until the campaign's reason contains `start`.
        func reason(_ id: String, _ start: String) throws {
            var last = ""
            _ = try bench.until("no \"\(start)\", still \(last)") {
                let json = try bench.api("GET", "/v1/campaigns/\(id)").json
                last = "\(json["state"] ?? "") \(json["reason"] ?? "")"
                return (json["reason"] as? String)?.contains(start) == true ? true : nil
            }
        }

        /// The lines of `campaigns watch` above its first line of progress. Ctrl-C ends it.
        func watch(_ id: String) throws -> [String] {
            let process = Process()
            process.executableURL = try CommandResult.binary()
            process.arguments = ["campaigns", "watch", id, "--config", bench.path("config.json5")]
            let pipe = Pipe()
            process.standardError = pipe
            process.standardOutput = FileHandle.nullDevice
            let lines = LogReader(pipe.fileHandleForReading)
            try process.run()
            guard lines.line(containing: "%  ", within: .seconds(60)) != nil else {
                throw Unexpected("watch shows nothing: \(lines.text)")
            }
            process.interrupt()
            process.waitUntilExit()
            #expect(
                process.terminationReason == .exit && process.terminationStatus == 130, "128 and SIGINT, as in a shell")
            return lines.text.split(separator: "\n").prefix { !$0.contains("%  ") }.map(String.init)
        }
    }

    /// One trouble's part of the document.
    private func part(_ title: String, _ stand: Stand, app name: String?, _ id: String) throws -> String {
        let (status, json) = try stand.bench.api("GET", "/readyz")
        var lines: [String] = []
        var reasons: Set<String> = []
        for list in ["faults", "degraded"] {
            for entry in json[list] as? [[String: String]] ?? [] {
                let (part, reason, remedy) = (entry["part"] ?? "", entry["reason"] ?? "", entry["remedy"] ?? "")
                // Entries of the other troubles are left out.
                let isOwn =
                    name.map { part.contains("com.example.\($0)") } ?? ["store", "configuration"].contains(part)
                guard isOwn else { continue }
                lines.append("  - `\(list)` `\(part)`: \(reason)\n    - remedy: \(remedy)")
                reasons.insert(normal(reason, stand))
            }
        }
        if lines.isEmpty { lines = ["  - nothing"] }
        let said = try stand.watch(id).joined(separator: " / ")
        let isSame = reasons.contains(normal(said, stand))
        return "### \(title)\n\n- `/readyz`: \(status)\n\(lines.joined(separator: "\n"))\n- `campaigns watch`: "
            + (said.isEmpty ? "nothing, for it moves" : isSame ? "the same" : said) + "\n"
    }

    /// Replaces values that differ from run to run.
    private func normal(_ text: String, _ stand: Stand) -> String {
        text.replacing(stand.database, with: "/var/lib/upgrade-relay/relay.db")
            .replacing(stand.bench.folder.path, with: "/FOLDER")
            .replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "TIME")
            .replacing(/127\.0\.0\.1(:| port )\d+/, with: "127.0.0.1:PORT")
            .replacing(/\b[0-9a-f]{12}\b/, with: "ID").replacing(/after \d+ ms/, with: "after N ms")
            .replacing(/for \d+ s\b/, with: "for N s").replacing(/uid \d+/, with: "uid N")
            .replacing(/by [a-z_][a-z0-9_-]* \(uid N\)( for [a-z_][a-z0-9_-]* \(uid N\))?/, with: "by root (uid N)")
    }

    @Test func whatIsSaidInEachTrouble() throws {
        let stand = try Stand()
        defer { stand.stop() }
        let bench = stand.bench
        try bench.start()
        let moving = try stand.raise("moving", devices: 2_000)
        let ids = try Dictionary(
            uniqueKeysWithValues: [
                "out", "unreachable", "key", "paused", "quota", "app", "source", "phased", "halted", "person",
            ].map {
                ($0, try stand.raise($0))
            })
        let sandbox = try stand.raise("sandbox", sandbox: 3)
        let canary = try stand.raise("canary", more: #","telephones":["13800000001"]"#)
        _ = try bench.api("POST", "/v1/campaigns/\(ids["person"] ?? "")/pause")
        var parts: [String] = []
        let troubles: [(title: String, app: String, reason: String)] = [
            ("The push service answers 5xx", "out", "to nearly every push"),
            ("The push service cannot be reached", "unreachable", "cannot reach the push service"),
            ("The key is refused", "key", "InvalidProviderToken"),
            ("The push service wants a pause from the key", "paused", "TooManyProviderTokenUpdates"),
            ("A project's quota is reached", "quota", "the quota of the project is reached"),
            ("The version is not in the store yet", "app", "waiting until the App Store offers 2.0.0"),
            ("A source fails", "source", "waiting until the App Store offers 2.0.0"),
            ("The phased release is paused", "phased", "phased release"),
            ("The rollout is halted", "halted", "is halted in Google Play"),
            ("A person paused it", "person", "paused by"),
        ]
        for (title, app, reason) in troubles {
            let id = try #require(ids[app])
            try stand.reason(id, reason)
            // `/readyz` is up to a second old.
            if !["key", "app", "phased", "halted", "person"].contains(app) {
                _ = try bench.until("nothing of \(app) in /readyz") {
                    "\(try bench.api("GET", "/readyz").json)".contains("com.example.\(app)") ? true : nil
                }
            }
            parts.append(try part(title, stand, app: app, id))
        }
        try stand.reason(sandbox, "cannot reach the push service's sandbox")
        // `/readyz` is up to a second old.
        _ = try bench.until("/readyz does not name the sandbox") {
            let degraded = try bench.api("GET", "/readyz").json["degraded"] as? [[String: String]] ?? []
            return degraded.contains { $0["part"]?.contains("com.example.sandbox") == true } ? true : nil
        }
        parts.append(try part("The sandbox cannot be reached", stand, app: "sandbox", sandbox))
        try stand.reason(canary, "is done")
        parts.append(try part("A canary is done", stand, app: "canary", canary))

        let file = bench.path("config.json5")
        let good = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        try Data(#"{ apps: { x: 1 } }"#.utf8).write(to: URL(filePath: file))
        bench.relay?.send(SIGHUP)
        _ = try bench.until("the reload is not refused") {
            "\(try bench.api("GET", "/readyz").json)".contains("configuration") ? true : nil
        }
        // The command reads the socket's path from this file.
        try Data(good.utf8).write(to: URL(filePath: file))
        parts.append(try part("A reload is refused", stand, app: nil, moving))
        try bench.reload()

        let outsider = try OutsideWriter(stand.database)
        try bench.readiness(503)
        try stand.reason(moving, "locked")
        parts.append(try part("Another program keeps the store locked", stand, app: nil, moving))
        try outsider.commit()
        try bench.readiness(200, isDegraded: true)

        if let disk = stand.disk {
            try disk.fill()
            try bench.readiness(503)
            try stand.reason(moving, "full")
            parts.append(try part("The disk is full", stand, app: nil, moving))
            try disk.empty()
            try bench.readiness(200, isDegraded: true)
        }
        try compare(parts.map { normal($0, stand) })
    }

    /// A part that cannot be made here is not compared.
    private func compare(_ parts: [String]) throws {
        var guide = try String(contentsOf: Self.file, encoding: .utf8)
        let start = try #require(guide.firstRange(of: Self.begin), "no \(Self.begin)").upperBound
        let stop = try #require(guide[start...].firstRange(of: Self.end), "no \(Self.end)").lowerBound
        var record = String(guide[start..<stop])
        if ProcessInfo.processInfo.environment["RELAY_RECORD"] != nil {
            record = "\n\n\(parts.joined(separator: "\n"))\n"
            guide.replaceSubrange(start..<stop, with: record)
            try Data(guide.utf8).write(to: Self.file)
        }
        let kept = record.split(separator: "\n### ").dropFirst()
        #expect(kept.count == 15)
        for part in parts {
            let lines = part.split(separator: "\n")
            let other = kept.map { "### \($0)".split(separator: "\n") }.first { $0.first == lines.first }
            #expect(lines == other)
        }
    }
}
