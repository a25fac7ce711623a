// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import HookReceiver
import OwnThread
import Signing
import TestPeers
import Testing

@testable import PushSimulator

/// The metrics of the real daemon, compared with what its campaigns and the push service report.
@Suite(.serialized, .ownThread) struct MetricsTests {
    @Test func aCampaignsFiguresAreInTheMetrics() throws {
        let fleet = Fleet(count: 3_000, withoutTelephone: 10, current: 7)
        let dead = Set(fleet.behind.prefix(30).map(\.token))
        let bad = Set(fleet.behind.dropFirst(100).prefix(5).map(\.token))
        let bench = try Workbench {
            $0.faults.deadTokens = dead
            $0.faults.badTokens = bad
            $0.faults.serviceErrors = .init(afterN: 500, count: 7, status: 503, retryAfter: 1)
            $0.faults.goAwayAfter = 900
            $0.faults.goAwayTimes = 1
        }
        try bench.start()
        let relay = try #require(bench.relay)
        let empty = try Scrape(of: relay)
        #expect(empty["upgrade_relay_push_outcomes_total", outcome: "accepted"] == 0)
        #expect(empty["upgrade_relay_campaigns", "state", "running"] == 0)
        try bench.register(fleet)
        let campaign = try bench.campaign(of: bench.bump("2.0.0"))
        var scrapes = [empty]
        let end = try bench.follow(campaign) { view in
            // Scrapes at each event of the campaign.
            if let scrape = try? Scrape(of: relay) { scrapes.append(scrape) }
            return view.isFinal
        }
        let last = try bench.scrape(until: { $0["upgrade_relay_campaigns", "state", "completed"] == 1 })
        scrapes.append(last)
        #expect(end.addsUp && end.state == "completed")

        for outcome in ["accepted", "rejected", "unregistered", "expired", "filtered"] {
            #expect(
                last["upgrade_relay_push_outcomes_total", outcome: outcome] == Double(end.counts[outcome] ?? -1),
                "\(outcome)")
        }
        #expect(last["upgrade_relay_push_rejections_total", "reason", "BadDeviceToken"] == 5)
        #expect(last["upgrade_relay_push_retries_total", "cause", "ServiceUnavailable"] == 7)
        for (reason, count) in end.filteredBy {
            #expect(last["upgrade_relay_devices_filtered_total", "reason", reason] == Double(count), "\(reason)")
        }
        #expect(last["upgrade_relay_devices"] == 3_000)
        for name in ["pushes_pending", "pushes_in_flight", "retries_waiting", "credential_suspended"] {
            #expect(last["upgrade_relay_\(name)"] == 0, "\(name)")
        }
        // Each answer of the push service has its latency, and each request is counted when it is sent.
        let figures = bench.simulator.figures
        let answered = try #require(last["upgrade_relay_push_latency_seconds_count"])
        #expect(answered == Double(figures.accepted + figures.rejected))
        #expect(try #require(last["upgrade_relay_http2_requests_sent_total"]) >= answered)
        #expect(last["upgrade_relay_http2_goaways_total", "code", "NO_ERROR"] == 1)
        #expect(last["upgrade_relay_http2_connections_retired_total", "reason", "goAway"] == 1)
        #expect(try #require(last["upgrade_relay_http2_connections_open"]) >= 1)
        #expect(last["upgrade_relay_provider_tokens_signed_total"] == 1)
        #expect(last["upgrade_relay_webhooks_received_total", "result", "accepted"] == 1)
        #expect(try #require(last["upgrade_relay_store_commit_duration_seconds_count"]) > 3)
        // Committed pages are in the WAL until a checkpoint moves them.
        let size = try #require(last["upgrade_relay_store_database_bytes"])
        #expect(try #require(last["upgrade_relay_store_wal_bytes"]) + size > 100_000)
        #expect(try #require(last["upgrade_relay_store_filesystem_free_bytes"]) > 0)
        #expect(try #require(last["process_cpu_seconds_total"]) > 0)
        #expect(try #require(last["process_resident_memory_bytes"]) > 1_000_000)
        let start = try #require(last["process_start_time_seconds"])
        #expect(abs(start - Date.now.timeIntervalSince1970) < 300, "\(start)")

        #expect(scrapes.count >= 3)
        for (before, after) in zip(scrapes, scrapes.dropFirst()) { after.expectNoCounterBelow(before) }
        try last.expectPromtoolIsContent()
        #expect(!last.text.contains(campaign), "a campaign's id is no label")
        for device in fleet.devices.prefix(200) {
            #expect(!last.text.contains(device.token.suffix(16)))
            if let telephone = device.telephone { #expect(!last.text.contains(telephone)) }
        }
    }

    @Test func aRefusedCredentialShows() throws {
        let bench = try Workbench(relayKey: .generate())
        try bench.start()
        try bench.register(Fleet(count: 20))
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(id) { $0.state == "suspended" }
        // The state is stored before the pushes that led to it, and their counters are shown after both.
        let scrape = try bench.scrape(until: {
            $0["upgrade_relay_credential_suspended"] == 1
                && $0["upgrade_relay_push_retries_total", "cause", "InvalidProviderToken"] ?? 0 >= 1
        })
        #expect(scrape["upgrade_relay_campaigns", "state", "suspended"] == 1)
        #expect(scrape["upgrade_relay_oldest_running_campaign_start_timestamp_seconds"] == nil)
    }

    @Test func whatIsNotSentAndWhoIsNotToldShows() throws {
        let bench = try Workbench { $0.latency = .milliseconds(500) }
        let well = try HookReceiver()
        let gone = try HookReceiver { _, _ in HookReceiver.response("410 Gone") }
        let failing = try HookReceiver { _, _ in HookReceiver.response("500 Internal Server Error") }
        defer { for receiver in [well, gone, failing] { receiver.stop() } }
        try Data(HookReceiver.secret.utf8).write(to: bench.folder.appending(path: "notify-secret"))
        func notify(_ receivers: [HookReceiver]) -> String {
            let secret = "secret: { file: \"\(bench.path("notify-secret"))\" }"
            let entries = receivers.map { "{ url: \"\($0.url)\", \(secret) }" }
            return "notify: [\(entries.joined(separator: ", "))], "
        }
        try bench.reconfigure("webhooks: {", notify([well, gone, failing]) + "webhooks: {")
        try bench.start()
        try bench.register(Fleet(count: 300))
        let first = try bench.campaign(of: bench.bump("2.0.0"))
        try bench.follow(first) { $0.isFinal }
        // Paused, so that some pushes are never sent.
        let second = try bench.campaign(of: bench.bump("3.0.0"))
        _ = try bench.api("POST", "/v1/campaigns/\(second)/pause")
        try bench.follow(second) { $0.state == "paused" && $0.counts["inFlight"] == 0 }
        _ = try bench.bump("4.0.0")
        let relay = try #require(bench.relay)
        let line = try #require(
            relay.waitForLine("a newer requirement superseded the campaign", within: .seconds(60)))
        #expect(line.contains("campaign=\(second)") && line.contains("version 4.0.0 became required"), "\(line)")

        func name(_ receiver: HookReceiver) -> String { "127.0.0.1:\(receiver.port)" }
        let attempts = "upgrade_relay_notification_attempts_total"
        // The first campaign has two changes, the second three, the third one.
        let scrape = try bench.scrape { scrape in
            scrape["upgrade_relay_notification_receiver_gone", "receiver", name(gone)] == 1
                && scrape["upgrade_relay_notifications_pending", "receiver", name(well)] == 0
                && (scrape[attempts, "result", "delivered"] ?? 0) >= 6
                && scrape["upgrade_relay_campaigns", "state", "superseded"] == 1
        }
        // A push in flight when the campaign was superseded is still answered, and then no longer counts as cancelled.
        _ = try bench.scrape { scrape in
            let counts = try? bench.api("GET", "/v1/campaigns/\(second)").json["counts"] as? [String: Any]
            let cancelled = counts?["cancelled"] as? NSNumber
            return cancelled != nil
                && scrape["upgrade_relay_pushes_cancelled", "state", "superseded"] == cancelled?.doubleValue
        }
        #expect(scrape["upgrade_relay_pushes_cancelled", "state", "cancelled"] == 0)
        #expect(scrape[attempts, "result", "gone"] == 1)
        #expect(try #require(scrape[attempts, "result", "retried"]) >= 1)
        #expect(try #require(scrape["upgrade_relay_notifications_pending", "receiver", name(failing)]) >= 1)
        let oldest = "upgrade_relay_oldest_pending_notification_timestamp_seconds"
        let since = try #require(scrape[oldest, "receiver", name(failing)])
        #expect(abs(since - Date.now.timeIntervalSince1970) < 300)
        #expect(scrape[oldest, "receiver", name(well)] == nil)
        #expect(!scrape.text.contains("key=k") && !scrape.text.contains("/hook"), "a URL may hold a secret")
        try scrape.expectPromtoolIsContent()

        // Only the configuration switches a receiver on again: it must be removed and added.
        for (number, receivers) in [[well, gone, failing], [well, failing], [well, gone, failing]].enumerated() {
            try bench.edit { text in
                text.replacing(#/notify: .*\], /#) { _ in notify(receivers) }
            }
            #expect(gone.deliveries.count == 1)
            relay.send(SIGHUP)
            #expect(relay.waitForLine(" reloaded apps=1", times: number + 1, within: .seconds(60)))
        }
        _ = try bench.bump("5.0.0")
        #expect(gone.wait { $0.count == 2 })
    }
}

extension Workbench {
    /// Scrapes until `condition` holds: values from the store may be a second old.
    func scrape(until condition: (Scrape) -> Bool) throws -> Scrape {
        guard let relay else { throw Unexpected("no daemon runs") }
        var last = ""
        return try until("still:\n\(last)") {
            let scrape = try Scrape(of: relay)
            last = scrape.text
            return condition(scrape) ? scrape : nil
        }
    }
}

/// One answer of `/metrics`, parsed.
struct Scrape {
    let text: String
    /// By name and labels, as written.
    private var values: [String: Double] = [:]
    private var counters: Set<String> = []

    init(of relay: RelayProcess) throws {
        let response = try HTTPClient().send(HTTPRequest("GET", "http://\(relay.address)/metrics"))
        guard response.status == 200 else { throw Unexpected("/metrics: \(response.status)") }
        text = String(decoding: response.body, as: UTF8.self)
        for line in text.split(separator: "\n") {
            if line.hasPrefix("# TYPE ") {
                let words = line.split(separator: " ")
                if words[3] == "counter" { counters.insert(String(words[2])) }
                if words[3] == "histogram" {
                    counters.formUnion(["_bucket", "_sum", "_count"].map { "\(words[2])\($0)" })
                }
            } else if !line.hasPrefix("#") {
                guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                    throw Unexpected("not a sample: \(line)")
                }
                guard values.updateValue(value, forKey: String(line[..<space])) == nil else {
                    throw Unexpected("twice: \(line)")
                }
            }
        }
    }

    /// The sum over all series of the name with that label; nil where there is none.
    subscript(_ name: String, _ label: String? = nil, _ value: String = "") -> Double? {
        let found = values.filter { key, _ in
            (key == name || key.hasPrefix(name + "{")) && (label.map { key.contains("\($0)=\"\(value)\"") } ?? true)
        }
        return found.isEmpty ? nil : found.values.reduce(0, +)
    }

    subscript(_ name: String, outcome outcome: String) -> Double? { self[name, "outcome", outcome] }

    func expectNoCounterBelow(_ before: Scrape) {
        for (key, value) in before.values where counters.contains(String(key.prefix { $0 != "{" })) {
            #expect((values[key] ?? -1) >= value, "\(key) fell from \(value) to \(values[key] ?? -1)")
        }
    }

    /// Prometheus' own check, where its tool is installed.
    func expectPromtoolIsContent() throws {
        let promtool = URL(filePath: "/usr/bin/promtool")
        guard FileManager.default.isExecutableFile(atPath: promtool.path) else { return }
        let result = try CommandResult.of(["check", "metrics"], program: promtool, input: text)
        #expect(result.status == 0 && result.output.isEmpty && result.errors.isEmpty, "\(result)")
    }
}
