// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import FaultInjection
import Foundation
import HookReceiver
import Notifications
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Signing
import StoreConformance
import Synchronization
import Telemetry
import TestPeers
import TestStores
import Testing
import UpgradeRules
import VersionSources

/// The whole way from a change of state to a receiver, with real HTTP and a real store. Only the clock is the test's: it skips
/// the hours of the schedule.
@Suite("Notifications, sent", .ownThread)
struct NotifierLiveTests {
    /// A store with a notifier whose clock can be put forward.
    final class Bench: Sendable {
        let folder: URL
        let store: any TestStore
        /// Faults of the store's files; nil unless the test can make them fail.
        let faults: StoreFaults?
        private let ahead = Mutex(Duration.zero)
        /// Lines of the notifiers' log. The outcome of an attempt is logged once the table has it.
        private let lines = Watched<[String]>([])

        init(canFail: Bool = false) throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "notify-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.appending(path: "relay.db").path
            faults = canFail ? StoreFaults(path: path) : nil
            store = try openStore(path)
        }

        deinit {
            store.close()
            try? FileManager.default.removeItem(at: folder)
        }

        var now: Timestamp {
            Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) + ahead.withLock { $0 }
        }

        func advance(_ time: Duration) { ahead.withLock { $0 += time } }

        func notifier() -> Notifier {
            let log = Log(minimum: .debug) { [lines] _, message, fields in
                let line = "\(message)" + fields.map { " \($0.name)=\($0.value)" }.joined()
                lines.change { $0.append(line) }
            }
            return Notifier(store: store, log: log, clock: { [self] in now }) {
                NotificationDocument.body(of: $0, in: $1)
            }
        }

        /// - Parameter events: by default the changes of a campaign's state, as most of the tests need them.
        func target(_ url: String, events: Set<EventType> = Set(CampaignState.allCases.map { EventType($0) })) throws
            -> NotificationTarget
        {
            NotificationTarget(
                receiver: NotificationReceiver(url: url, events: events),
                secret: try WebhookSecret(HookReceiver.secret),
                egress: .direct)
        }

        func announce(_ required: String) throws -> CampaignKey {
            let bump = VersionBump(
                app: AppKey(app: "com.example.app", platform: .ios), required: try Version(required))
            let draft = CampaignDraft(downloadURL: "https://apps.example.com/app", timeToLive: .seconds(3600))
            let applied = try store.apply(
                bump, actor: "t", source: "test", at: now, draft: draft, receipt: nil
            ) { _ in StoredAnswer(status: 200, body: []) }
            guard case .applied(let outcome, _) = applied, let campaign = outcome.campaign else { throw Missing() }
            return campaign.key
        }

        func move(_ campaign: CampaignKey, _ event: CampaignChange) throws {
            guard try store.move(campaign, event, at: now) else { throw Missing() }
        }

        /// The log's first line with `text` in it; nil where none comes within a minute.
        func line(with text: String) -> String? {
            _ = lines.wait { $0.contains { $0.contains(text) } }
            return lines.now.first { $0.contains(text) }
        }

        /// The table's rows once `condition` holds, or after a minute. It is checked after each line of the log.
        func settled(_ condition: ([NotificationRecord]) -> Bool) throws -> [NotificationRecord] {
            let deadline = ContinuousClock.now + .seconds(60)
            while true {
                // Before the look, so that no line is missed.
                let seen = lines.now.count
                let all = try store.notifications(campaign: nil, state: nil, before: nil, limit: 1000)
                if condition(all) { return all }
                let rest = Int((deadline - .now) / .milliseconds(1))
                guard rest > 0, lines.wait(seconds: 0, milliseconds: rest, until: { $0.count > seen }) else {
                    return all
                }
            }
        }

        /// Makes the notifications of new events, a row each, as the notifier does each second.
        func addressEvents() throws { try store.addressEvents(limit: 10_000, at: now) }

        struct Missing: Error {}
    }

    @Test("each change of state arrives, verified, in order, as the campaign was then")
    func order() throws {
        let bench = try Bench()
        let receiver = try HookReceiver()
        defer { receiver.stop() }
        let notifier = bench.notifier()
        defer { notifier.stop() }
        try notifier.start([bench.target(receiver.url)])
        let first = try bench.announce("2.0.0")
        try bench.move(first, .paused)
        try bench.move(first, .resumed)
        _ = try bench.announce("3.0.0")
        #expect(receiver.wait { $0.count >= 5 })
        let got = receiver.deliveries
        #expect(got.map(\.type) == ["running", "paused", "running", "superseded", "running"].map { "campaign.\($0)" })
        #expect(got.map { $0.data["state"] as? String } == ["running", "paused", "running", "superseded", "running"])
        #expect(got.map { $0.data["required"] as? String } == ["2.0.0", "2.0.0", "2.0.0", "2.0.0", "3.0.0"])
        for delivery in got {
            #expect(delivery.isVerified)
            #expect(delivery.headers["content-type"] == "application/json")
        }
        #expect(Set(got.map(\.id)).count == 5)
        let all = try bench.settled { $0.allSatisfy { $0.state == .delivered } && $0.count == 5 }
        #expect(all.allSatisfy { $0.attempts.map(\.status) == [204] && $0.nextAttemptAt == nil })
    }

    @Test(
        "a failure is tried again by the schedule, with the same id, a new time and a new signature; the tenth is the last"
    )
    func retries() throws {
        let bench = try Bench()
        let receiver = try HookReceiver { _, number in
            HookReceiver.response(number == 0 ? "302 Found" : "500 Internal Server Error", headers: ["Location: /x"])
        }
        defer { receiver.stop() }
        let notifier = bench.notifier()
        defer { notifier.stop() }
        try notifier.start([bench.target(receiver.url)])
        _ = try bench.announce("2.0.0")
        for attempt in 1...10 {
            let all = try bench.settled { $0.first?.attempts.count == attempt }
            let notification = try #require(all.first)
            try #require(notification.attempts.count == attempt)
            guard attempt < 10 else { break }
            let last = try #require(notification.attempts.last)
            let wait = try #require(notification.nextAttemptAt) - last.at
            let due = NotificationSchedule.delays[attempt]
            #expect(wait >= due && wait < due * 1.1 + .seconds(20), "after attempt \(attempt): \(wait)")
            // The whole wait passes. The times lie in the future for the receiver, so only the first delivery is verified.
            bench.advance(due * 1.1 + .seconds(1))
        }
        let all = try bench.settled { $0.first?.state == .failed }
        let notification = try #require(all.first)
        #expect(notification.state == .failed && notification.nextAttemptAt == nil)
        #expect(notification.attempts.map(\.status) == [302] + Array(repeating: 500, count: 9))
        #expect(notification.attempts.first?.error?.contains("redirects are not followed") == true)
        let got = receiver.deliveries
        #expect(got.count == 10)
        #expect(Set(got.map(\.id)).count == 1)
        #expect(Set(got.map(\.body)).count == 1)
        #expect(Set(got.map { $0.headers["webhook-timestamp"] }).count == 10)
        #expect(Set(got.map { $0.headers["webhook-signature"] }).count == 10)
        #expect(got[0].isVerified)
    }

    @Test("410 ends it for good; another receiver hears on; out and in again begins anew")
    func gone() throws {
        let bench = try Bench()
        let dead = try HookReceiver { _, _ in HookReceiver.response("410 Gone") }
        let living = try HookReceiver()
        defer {
            dead.stop()
            living.stop()
        }
        let notifier = bench.notifier()
        defer { notifier.stop() }
        try notifier.start([bench.target(dead.url), bench.target(living.url, events: [.paused])])
        let campaign = try bench.announce("2.0.0")
        #expect(dead.wait { $0.count == 1 })
        _ = try bench.settled { $0.contains { $0.state == .dropped } }
        try bench.move(campaign, .paused)
        #expect(living.wait { $0.count == 1 })
        #expect(living.deliveries.map(\.type) == ["campaign.paused"], "it wants to hear of nothing else")
        #expect(dead.deliveries.count == 1)
        try notifier.start([bench.target(living.url)])
        try notifier.start([bench.target(dead.url)])
        try bench.move(campaign, .resumed)
        #expect(dead.wait { $0.count == 2 })
        #expect(dead.deliveries.last?.data["state"] as? String == "running")
    }

    @Test("receivers that the store does not take over change nothing; once it takes them, they do")
    func refused() throws {
        let bench = try Bench(canFail: true)
        let faults = try #require(bench.faults)
        let old = try HookReceiver()
        let new = try HookReceiver()
        defer {
            old.stop()
            new.stop()
        }
        let notifier = bench.notifier()
        defer { notifier.stop() }
        try notifier.start([bench.target(old.url)])
        let campaign = try bench.announce("2.0.0")
        #expect(old.wait { $0.count == 1 })
        _ = try bench.settled { $0.first?.state == .delivered }
        faults.arm(.full, first: 1)
        #expect(throws: StoreError.self) { try notifier.start([bench.target(new.url)]) }
        #expect(faults.failures > 0)
        try notifier.start([bench.target(old.url)])
        faults.disarm()
        try bench.move(campaign, .paused)
        #expect(old.wait { $0.count == 2 }, "who was told before is told on")
        _ = try bench.settled { $0.count == 2 && $0.allSatisfy { $0.state == .delivered } }
        try notifier.start([bench.target(new.url)])
        try bench.move(campaign, .resumed)
        #expect(new.wait { $0.count == 1 })
        #expect(old.deliveries.map(\.type) == ["campaign.running", "campaign.paused"])
        #expect(new.deliveries.map(\.type) == ["campaign.running"])
    }

    @Test("over https: a certificate of the owner's authority is believed, one that nobody signed for is not")
    func secure() throws {
        let bench = try Bench()
        let identity = try TestIdentity()
        let receiver = try HookReceiver(identity: identity)
        let stranger = try HookReceiver(identity: try TestIdentity())
        defer {
            receiver.stop()
            stranger.stop()
        }
        let notifier = bench.notifier()
        defer { notifier.stop() }
        let targets = try [receiver, stranger].map { peer in
            var target = try bench.target(peer.url)
            target.egress.trustedCertificates = identity.authorityPath
            return target
        }
        try notifier.start(targets)
        _ = try bench.announce("2.0.0")
        #expect(receiver.wait { $0.count == 1 })
        #expect(receiver.deliveries.first?.isVerified == true)
        // The figures count an attempt after it is stored, before its line in the log.
        let all = try bench.settled {
            $0.allSatisfy { !$0.attempts.isEmpty } && $0.count == 2
                && notifier.figures.attempts.values.flatMap(\.values).reduce(0, +) == 2
        }
        let refused = try #require(all.first { $0.url == stranger.url })
        #expect(refused.state == .pending && refused.attempts.first?.status == nil)
        #expect(refused.attempts.first?.error?.contains("certificate") == true, "\(refused.attempts)")
        #expect(stranger.deliveries.isEmpty, "nothing is said to a stranger")
        #expect(all.first { $0.url == receiver.url }?.state == .delivered)
        let label = { NotifierFigures.label($0) }
        #expect(notifier.figures.attempts[label(receiver.url)] == [.delivered: 1])
        #expect(notifier.figures.attempts[label(stranger.url)] == [.retried: 1])
    }

    @Test(
        "a receiver's label is its host and port",
        arguments: [
            ("https://Hooks.Example.com/services/T0/B0/secret", "hooks.example.com"),
            ("https://ci.example.com:8443?key=secret", "ci.example.com:8443"),
            ("http://127.0.0.1:80#x", "127.0.0.1:80"),
            ("https://[::1]:9/x", "[::1]:9"),
        ])
    func label(url: String, label: String) {
        #expect(NotifierFigures.label(url) == label)
    }

    @Test("the log names a receiver by its host and port: path and query may be a secret")
    func logged() throws {
        let bench = try Bench()
        let receiver = try HookReceiver { _, number in
            HookReceiver.response(number == 0 ? "200 OK" : "500 Internal Server Error")
        }
        defer { receiver.stop() }
        #expect(receiver.url.contains("/hook"))
        let notifier = bench.notifier()
        defer { notifier.stop() }
        try notifier.start([bench.target(receiver.url)])
        let campaign = try bench.announce("2.0.0")
        let taken = try #require(bench.line(with: "notified"))
        try bench.move(campaign, .paused)
        let failed = try #require(bench.line(with: "is tried again"))
        for line in [taken, failed] {
            #expect(line.contains(" receiver=127.0.0.1:\(receiver.port)"), "\(line)")
            #expect(!line.contains("hook"), "\(line)")
        }
    }

    @Test("429 holds all that goes to the receiver, for as long as it says")
    func throttled() throws {
        let bench = try Bench()
        let receiver = try HookReceiver { _, number in
            number == 0
                ? HookReceiver.response("429 Too Many Requests", headers: ["Retry-After: 100"])
                : HookReceiver.response("200 OK")
        }
        defer { receiver.stop() }
        let notifier = bench.notifier()
        defer { notifier.stop() }
        try notifier.start([bench.target(receiver.url)])
        let campaign = try bench.announce("2.0.0")
        _ = try bench.settled { $0.first?.attempts.count == 1 }
        try bench.move(campaign, .paused)
        try bench.addressEvents()
        #expect(try bench.settled { _ in true }.count == 2)
        #expect(try bench.store.dueNotification(for: receiver.url, at: bench.now + .seconds(90)) == nil)
        #expect(receiver.deliveries.count == 1)
        bench.advance(.seconds(101))
        #expect(receiver.wait { $0.count == 3 })
    }

    @Test("nobody at the address is a failure like another, and what is pending outlives the notifier")
    func restart() throws {
        let bench = try Bench()
        let nobody = try Loopback.ReservedPort()
        let port = nobody.port
        let before = bench.notifier()
        try before.start([bench.target("http://127.0.0.1:\(port)/hook?key=k")])
        _ = try bench.announce("2.0.0")
        let failed = try bench.settled { $0.first?.attempts.count == 1 }
        #expect(failed.first?.attempts.first?.status == nil)
        #expect(failed.first?.attempts.first?.error?.isEmpty == false)
        before.stop()

        let receiver = try HookReceiver(port: port)
        defer { receiver.stop() }
        let after = bench.notifier()
        defer { after.stop() }
        try after.start([bench.target(receiver.url)])
        bench.advance(.seconds(7))
        #expect(receiver.wait { $0.count == 1 })
        #expect(receiver.deliveries.first?.id == failed.first?.id)
        let all = try bench.settled { $0.first?.state == .delivered }
        #expect(all.first?.attempts.map(\.number) == [1, 2])
    }

    @Test(
        "a receiver that says nothing keeps neither the store nor another receiver waiting, and stop does not wait for it"
    )
    func slow() throws {
        let bench = try Bench()
        let release = DispatchSemaphore(value: 0)
        let slow = try HookReceiver { _, _ in
            release.wait()
            return nil
        }
        let quick = try HookReceiver()
        let notifier = bench.notifier()
        try notifier.start([bench.target(slow.url), bench.target(quick.url)])
        let campaign = try bench.announce("2.0.0")
        #expect(quick.wait { $0.count == 1 })
        // All within the time that the silent receiver has for its one attempt.
        for _ in 0..<10 {
            try bench.move(campaign, .paused)
            try bench.move(campaign, .resumed)
        }
        #expect(quick.wait { $0.count == 21 })
        // The table has a delivery a moment after the receiver; stopping in between would send it once more at the next start.
        _ = try bench.settled { $0.filter { $0.state == .delivered }.count == 21 }
        notifier.stop()
        release.signal()
        slow.stop()
        quick.stop()
        let pending = try bench.store.notifications(campaign: nil, state: .pending, before: nil, limit: 1000)
        #expect(pending.count == 21 && pending.allSatisfy { $0.attempts.isEmpty }, "an attempt that was ended is none")
    }
}
