// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Telemetry
import TestPeers
import TestStores
import Testing
import UpgradeRules

@testable import RelayDaemon

/// The daemon's own upkeep, beside its work.
@Suite(.ownThread) struct MaintenanceTests {
    private let store: any TestStore
    private let app = AppKey(app: "a", platform: .ios)
    private let now = Timestamp(seconds: 1_800_000_000)

    init() throws {
        store = try openStore("\(try TestFolder.make())/relay.db")
    }

    private func thread(_ lines: Watched<[String]>) -> Maintenance {
        Maintenance(
            store: store, log: Log(minimum: .notice) { _, message, _ in lines.change { $0.append("\(message)") } },
            clock: { now })
    }

    /// A campaign with one device, which has upgraded.
    private func upgraded() throws -> CampaignKey {
        let version = try Version("1.0")
        try store.register([DeviceRegistration(app: app, token: "aa", telephone: "1", version: version)], at: now)
        let draft = CampaignDraft(downloadURL: "https://example.com/app", timeToLive: .seconds(3600))
        _ = try store.apply(
            VersionBump(app: app, required: try Version("2.0")), actor: "a", source: "b", at: now, draft: draft,
            receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        let campaign = try #require(try store.newestCampaigns().first).key
        _ = try store.move(campaign, .cancelled, at: now)
        try store.administer(
            "UPDATE campaign SET upgraded = 1")
        return campaign
    }

    @Test func `How a campaign is obeyed is looked at with the start, and again with a reload`() throws {
        let campaign = try upgraded()
        let lines = Watched<[String]>([])
        let thread = thread(lines)
        try thread.start(keep: .init())
        defer { thread.stop() }
        let deadline = ContinuousClock.now + .seconds(60)
        while try store.adoption(of: campaign)?.points.isEmpty != false {
            try #require(ContinuousClock.now < deadline, "no point within a minute")
        }
        #expect(try store.adoption(of: campaign)?.points == [AdoptionPoint(at: now, upgraded: 1)])
    }

    @Test func `A store in trouble is reported once`() throws {
        store.close()
        let lines = Watched<[String]>([])
        let thread = thread(lines)
        try thread.start(keep: .init())
        #expect(lines.wait { !$0.isEmpty })
        thread.reload(keep: .init())
        thread.stop()
        #expect(lines.now == ["how campaigns are obeyed could not be kept"])
    }

    /// FAULTS 3.7: receivers were notified of campaigns alone.
    @Test func `Receivers hear of what is in trouble for a minute, the store too, and when it is over`() throws {
        let troubles = Watched<[ReadinessFault]>([])
        let events = Watched<[RelayEvent]>([])
        let maintenance = Maintenance(
            store: store, log: Log(minimum: .error) { _, _, _ in }, certificates: nil, clock: { now },
            troubles: { troubles.now }, notify: { event in events.change { $0.append(event) } })
        func told() -> [String] {
            defer { events.change { $0 = [] } }
            return events.now.map { event in
                guard case .part(let part, let reason) = event.subject else { return "\(event.type)" }
                return "\(event.type.rawValue) \(part) \(reason)"
            }
        }
        troubles.change { $0 = [ReadinessFault(part: "outage:a/ios", reason: "it answers 503")] }
        _ = maintenance.turn(isMinuteOver: false)
        #expect(told() == [], "what ends by itself within a minute calls nobody")
        _ = maintenance.turn(isMinuteOver: true)
        #expect(told() == ["relay.degraded outage:a/ios it answers 503"])
        troubles.change { $0 = [ReadinessFault(part: CertificateWatch.part + "a", reason: "it ends in 9 days")] }
        _ = maintenance.turn(isMinuteOver: true)
        #expect(told() == ["relay.recovered outage:a/ios "])
        store.close()
        _ = maintenance.turn(isMinuteOver: true)
        #expect(told() == ["certificate.endsSoon \(CertificateWatch.part)a it ends in 9 days"])
        _ = maintenance.turn(isMinuteOver: true)
        let last = told()
        #expect(last.count == 1 && last.first?.hasPrefix("relay.degraded store ") == true, "\(last)")
    }

    @Test func `Without a thread each turn is a minute, and the sixtieth after a pruning prunes`() throws {
        let lines = Watched<[String]>([])
        let maintenance = Maintenance(
            store: store, log: Log(minimum: .notice) { _, message, _ in lines.change { $0.append("\(message)") } },
            clock: { now })
        maintenance.reload(keep: .init(deliveries: .seconds(86_400)))
        #expect(maintenance.turn(isMinuteOver: false) == .seconds(60))
        // A removed device, which the next pruning takes, at whatever time that comes.
        let past = now - .seconds(10 * 86_400)
        try store.register([DeviceRegistration(app: app, token: "aa", telephone: "1", version: nil)], at: past)
        _ = try store.removeDevice(app, token: "aa")
        try store.administer("UPDATE device SET removed_at = 1")
        for _ in 0..<59 { _ = maintenance.turn(isMinuteOver: true) }
        #expect(lines.now.isEmpty)
        // A turn before its minute is over does not count.
        _ = maintenance.turn(isMinuteOver: false)
        #expect(lines.now.isEmpty)
        _ = maintenance.turn(isMinuteOver: true)
        #expect(lines.now == ["the store was pruned"])
        maintenance.askToStop()
        #expect(maintenance.turn(isMinuteOver: true) == nil)
    }

    @Test func `Who did what is forgotten in its own time, and the log says how many rows`() throws {
        let lines = Watched<[String]>([])
        let maintenance = Maintenance(
            store: store,
            log: Log(minimum: .notice) { _, _, fields in
                lines.change { $0 += fields.filter { $0.0 == "audit" }.map(\.1) }
            }, clock: { now })
        for days in [401, 399] {
            try store.note(AuditEntry(at: now - .seconds(days * 86_400), actor: .relay, action: "relay.reload"))
        }
        maintenance.reload(keep: .init(deliveries: .seconds(86_400)))
        _ = maintenance.turn(isMinuteOver: false)
        #expect(try store.audit(AuditFilter(), before: nil, limit: 9).count == 2)
        maintenance.reload(keep: .init(audit: .seconds(400 * 86_400)))
        _ = maintenance.turn(isMinuteOver: false)
        #expect(try store.audit(AuditFilter(), before: nil, limit: 9).count == 1)
        #expect(lines.now == ["1"])
    }

    @Test func `Requests for a second person that are over go with the trail of their time`() throws {
        for days in [401, 399] {
            let time = (now - .seconds(days * 86_400)).milliseconds
            try store.administer(
                """
                INSERT INTO approval (app, platform, act, version, urgent, devices, all_devices, shown, asked_by, asked_kind,
                    asked_via, asked_at, until, state, closed_by, closed_at, reason)
                VALUES ('a', 'ios', 'raise', '2.0', 0, 9, 9, '{}', 'ada', 'token', 'api', \(time), \(time), 'refused',
                    'bob', \(time), 'not now')
                """)
        }
        let lines = Watched<[String]>([])
        let maintenance = Maintenance(
            store: store,
            log: Log(minimum: .notice) { _, _, fields in
                lines.change { $0 += fields.filter { $0.0 == "approvals" }.map(\.1) }
            }, clock: { now })
        maintenance.reload(keep: .init(deliveries: .seconds(86_400)))
        _ = maintenance.turn(isMinuteOver: false)
        #expect(try store.approvals(before: nil, limit: 9).count == 2)
        maintenance.reload(keep: .init(audit: .seconds(400 * 86_400)))
        _ = maintenance.turn(isMinuteOver: false)
        #expect(try store.approvals(before: nil, limit: 9).count == 1)
        #expect(lines.now == ["1"])
    }
}
