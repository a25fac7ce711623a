// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PrivatePostgres
import PushSimulator
import StorePeers
import Testing

/// One campaign during which the store's server fails, and the checks that must hold whatever the fault was.
final class ServerTrial {
    let fault: String
    let bench: Workbench
    let fleet: Fleet
    var plan: CrashPlan
    private(set) var campaign = ""
    private var pauses: [Duration] = []
    private var begun = ContinuousClock.now

    /// - Parameters:
    ///   - fault: its name, for the table.
    ///   - conninfo: how the relay connects to the server.
    ///   - seconds: how long the campaign sends at least, so that the faults find it at work.
    init(_ fault: String, _ plan: CrashPlan, conninfo: String, seconds: Int) throws {
        (self.fault, self.plan) = (fault, plan)
        fleet = Fleet(count: plan.devices)
        bench = try Workbench(iosKeys: "pace: { ratePerSecond: \(max(1, plan.devices / seconds)) },") {
            $0.latency = .milliseconds(20)
        }
        try bench.keepStore(inPostgres: conninfo)
    }

    /// Starts the relay and the campaign; returns when it has begun to send.
    func begin() throws {
        try bench.start()
        try bench.register(fleet)
        campaign = try bench.campaign(of: bench.bump("2.0.0"))
        begun = .now
        try #require(bench.simulator.wait(forRequests: 1, deadline: .seconds(60)), "\(self)")
    }

    /// Waits until a random part of the rest was sent, sized so that about `left` more faults find some to interrupt.
    func pass(left: Int) throws {
        let figures = bench.simulator.figures
        let rest = max(1, fleet.devices.count - figures.distinctTokens)
        let more = Int.random(in: 0...(rest * 5 / 4 / (left + 1)), using: &plan.random)
        _ = bench.simulator.wait(
            forRequests: figures.requests + min(more, rest), deadline: .seconds(60) * Patience.factor)
        plan.pass(upTo: .milliseconds(25))
    }

    /// Call it when the fault is over: waits until the campaign sends again, if it has devices left.
    func goesOn() throws {
        let (end, seen) = (ContinuousClock.now, bench.simulator.figures.requests)
        guard bench.simulator.figures.distinctTokens < fleet.devices.count else { return }
        try #require(
            bench.simulator.wait(forRequests: seen + 1, deadline: .seconds(60) * Patience.factor),
            "\(self): sending does not go on\n\(bench.relay?.log ?? "")")
        pauses.append(.now - end)
    }

    /// Waits for the campaign's end, compares the ledger with the pushes that the phones got, and prints one line of the table.
    ///
    /// - Parameters:
    ///   - times: how often the fault was tried.
    ///   - allowed: how many pushes may have been sent twice, beside the pool's resends; evaluated at the end.
    ///   - note: a remark for the table.
    func end(times: Int, twice allowed: @autoclosure () -> Int = 0, note: String = "") throws {
        let view = try finish()
        let twice = allowed()
        let took = ContinuousClock.now - begun
        let (figures, devices) = (bench.simulator.figures, fleet.devices.count)
        let relay = try #require(bench.relay)
        #expect(view.state == "completed" && view.addsUp, "\(self): \(view)")
        #expect(view.counts["accepted"] == devices, "\(self): \(view)")
        try compare()
        // A connection to the push service that dies loses answers; the pool counts the requests that it resends.
        let resent = Int(try Scrape(of: relay)["upgrade_relay_http2_resends_total"] ?? 0)
        #expect(figures.duplicates <= twice + resent, "\(self): told twice\n\(relay.log)")
        try bench.readiness(200)
        let check = try bench.command("store", "check")
        #expect(check.output.contains("the store is sound"), "\(self): \(check)")
        let longest = pauses.max().map { "\(Int($0 / .milliseconds(1))) ms" } ?? "-"
        let median = pauses.isEmpty ? "-" : "\(Int(pauses.sorted()[pauses.count / 2] / .milliseconds(1))) ms"
        let lines = troubles
        print(
            """
            | \(fault) | \(devices) | \(times) | \(devices - figures.distinctTokens) | \(figures.duplicates) of \(twice) \
            | \(median), \(longest) | \(lines.count) | \(Int(took / .milliseconds(1))) ms \(note) | \(plan)
            """)
        for (line, count) in Dictionary(grouping: lines, by: { $0 }).mapValues(\.count).sorted(by: { $0.key < $1.key })
        {
            print("    \(count) x \(line)")
        }
    }

    /// Returns when the campaign is over.
    func finish() throws -> CampaignView {
        let deadline = ContinuousClock.now + .seconds(180) * Patience.factor
        while true {
            // The stream of events may end with the store's fault.
            if let view = try? bench.follow(campaign, until: \.isFinal) { return view }
            guard ContinuousClock.now < deadline else {
                throw Unexpected("\(self): the campaign does not end\n\(bench.relay?.log ?? "")")
            }
        }
    }

    /// Compares the ledger with the record, push by push.
    private func compare() throws {
        var pushed: [String: Set<String>] = [:]
        for push in try bench.record() {
            pushed[try #require(push["token"] as? String), default: []]
                .insert(try #require(push["apnsId"] as? String))
        }
        #expect(Set(pushed.keys) == Set(fleet.devices.map(\.token)), "\(self): each of them, and nobody else")
        #expect(pushed.values.allSatisfy { $0.count == 1 }, "\(self): sent again with the same id")
        var ledger: [String: Set<String>] = [:]
        for delivery in try bench.deliveries(campaign) where delivery["state"] as? String == "accepted" {
            ledger[try #require(delivery["token"] as? String), default: []]
                .insert(try #require(delivery["apnsId"] as? String))
        }
        #expect(ledger == pushed, "\(self): the ledger is the record")
    }

    /// The log's warnings and errors so far, without time and fields.
    var troubles: [String] {
        (bench.relay?.log ?? "").split(separator: "\n").compactMap { line in
            guard let match = line.firstMatch(of: #/ (warning|error) (.*)/#) else { return nil }
            return "\(match.output.1) \(match.output.2.prefix { $0 != "=" })"
        }
    }
}

extension ServerTrial: CustomStringConvertible {
    var description: String { "\(fault), \(plan)" }
}
