// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import StoreSQL
import Synchronization
import Telemetry
import Testing
import UpgradeRules

@testable import RelayStoreSQLite

/// The log's one line for each change of a requirement.
@Suite struct RequirementLogTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        var taken: [String] {
            all.withLock { lines in
                defer { lines = [] }; return lines
            }
        }
    }

    private let lines = Lines()
    private let directory: TemporaryDirectory
    private let store: SQLiteStore
    private let app = AppKey(app: "com.example.app", platform: .ios)
    private let now = Timestamp(seconds: 1_700_000_000)

    init() throws {
        directory = try TemporaryDirectory()
        var options = SQLiteStore.Options()
        options.log = Log(minimum: .debug) { [lines] level, message, fields in
            let text = fields.filter { $0.name != "campaign" }.map { " \($0.name)=\($0.value)" }.joined()
            lines.all.withLock { $0.append("\(level) \(message)\(text)") }
        }
        store = try SQLiteStore(path: directory.file("relay.db"), options: options)
        try store.register(
            (0..<3).map { DeviceRegistration(app: app, token: "a\($0)", telephone: "138\($0)", version: nil) }, at: now)
    }

    private func bump(_ required: String, by: String, via: String, canary: [String]? = nil, isGated: Bool = false)
        throws
    {
        var bump = VersionBump(app: app, required: try Version(required))
        bump.telephones = canary
        let draft = CampaignDraft(downloadURL: "https://example.com/app", timeToLive: .seconds(3600))
        _ = try store.apply(
            bump, actor: by, source: via, at: now, draft: draft, waitingReason: isGated ? "not out yet" : nil,
            receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
    }

    @Test func `A rise, a canary and its release, a store's word and a withdrawal are a line each`() throws {
        defer { store.close() }
        let head = "what is required changed app=com.example.app platform=ios"
        try bump("2.1", by: "webhook-secret", via: "webhook")
        #expect(
            lines.taken == [
                "notice \(head) change=raised version=2.1 from=nothing to=2.1 state=in_force reach=everybody devices=3 "
                    + "by=webhook-secret via=webhook"
            ])
        try bump("2.1", by: "webhook-secret", via: "webhook")
        #expect(lines.taken == [], "nothing changed")
        try bump("2.2", by: "ci", via: "api", canary: ["1381", "1382"])
        #expect(
            lines.taken == [
                "notice \(head) change=raised version=2.2 from=2.1 to=2.2 state=in_force reach=2 phone numbers devices=3 "
                    + "by=ci via=api"
            ])
        try store.decide(
            app, .released(nil), by: Signature(by: "alice (uid 1000)", via: "release", at: now),
            in: RequirementMachine.Surroundings(now: now))
        #expect(
            lines.taken == [
                "notice \(head) change=widened version=2.2 from=2.1 to=2.2 state=in_force reach=everybody devices=3 "
                    + "by=alice (uid 1000) via=release reason=released by hand"
            ])
        try bump("3.0", by: "ci", via: "api", isGated: true)
        #expect(lines.taken.map { $0.contains("change=raised") && $0.contains("state=waiting") } == [true])
        try store.decide(
            app, .looked, by: Signature(by: "appStore", via: "gate", at: now),
            in: RequirementMachine.Surroundings(now: now, gate: "appStore") { _ in GateVerdict(.open, "shown") })
        #expect(
            lines.taken.map {
                $0.contains("change=inForce version=3.0 from=2.2 to=3.0") && $0.contains("by=appStore via=gate")
            }
                == [true])
        _ = try store.withdraw(
            try Version("3.0"), of: app, by: .operator("bob (uid 1001)"), reason: "it crashes", at: now)
        #expect(
            lines.taken.map {
                $0.contains("change=withdrawn version=3.0 from=3.0 to=2.2") && $0.hasSuffix("it crashes")
                    && $0.contains("by=bob (uid 1001)")
            } == [true])
    }

    @Test func `What another program wrote is a line when it is taken up, and the latest version has its own`() throws {
        defer { store.close() }
        _ = try store.apply(
            VersionBump(app: app, latest: try Version("2.0")), actor: "ci", source: "api", at: now, draft: nil,
            receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        #expect(
            lines.taken.map { $0.hasPrefix("notice the latest version changed") && $0.contains("from=nothing to=2.0") }
                == [true])
        try store.administer(
            "UPDATE version SET required = '2.0' WHERE app = 'com.example.app' AND platform = 'ios'")
        #expect(lines.taken == [])
        var surroundings = RequirementMachine.Surroundings(now: now)
        surroundings.known = .everything
        try store.decide(app, .looked, by: Signature(by: "noGate", via: "gate", at: now), in: surroundings)
        let taken = lines.taken
        #expect(taken.map { $0.contains("change=takenUp version=2.0") } == [true], "\(taken)")
    }
}
