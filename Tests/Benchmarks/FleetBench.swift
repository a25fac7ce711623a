// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Two relays on one database, compared with one: each sends a campaign of its own, one to iOS and one to Android.
///
/// Here they share the machine, so the rate means nothing, only the cost of a push does. Two relays, each on its own machine, would
/// send `share` times as much as one.
struct FleetBench {
    let options: BenchOptions
    private static let platforms = ["ios", "android"]

    func run() throws -> [BenchReport.Row] {
        let devices = options["fleet-devices"]
        var alone = Cost()
        for platform in Self.platforms {
            alone += try cost(of: [platform], devices: devices)
        }
        let together = try cost(of: Self.platforms, devices: devices)
        return [row("one relay, one campaign", alone, alone), row("two relays, two campaigns", together, alone)]
    }

    private struct Cost {
        var pushes = 0
        /// The processor time of the relays, in nanoseconds.
        var relays: UInt64 = 0
        var server: UInt64 = 0
        var log = 0
        var seconds = 0.0

        static func += (left: inout Cost, right: Cost) {
            left.pushes += right.pushes
            left.relays += right.relays
            left.server += right.server
            left.log += right.log
            left.seconds += right.seconds
        }

        func each(_ value: some BinaryInteger) -> Double { Double(value) / Double(max(pushes, 1)) }
    }

    /// Runs one relay per platform, all on one database, each with one campaign at a time.
    private func cost(of platforms: [String], devices: Int) throws -> Cost {
        let server = try StageServer()
        let stages = try platforms.map {
            try Stage(relay: options.relay, platform: $0, server: server, node: "relay-\($0)")
        }
        defer { for stage in stages { stage.tearDown() } }
        for stage in stages {
            try stage.start()
            try stage.importDevices(0..<devices)
        }
        // Restarts each relay, so that its import does not count.
        for stage in stages { try stage.start() }
        let before = try stages.map { try $0.moment() }
        let campaigns = try stages.map { try $0.raise(to: 2) }
        for (stage, campaign) in zip(stages, campaigns) {
            try stage.wait("the campaign is over", pause: 200_000) { try stage.campaign(campaign).state == "completed" }
        }
        var cost = Cost()
        for (stage, (campaign, before)) in zip(stages, zip(campaigns, before)) {
            let spent = try stage.spent(since: before, campaign)
            guard spent.accepted == devices else { throw BenchError("\(spent.accepted) of \(devices) were accepted") }
            cost.pushes += spent.accepted
            cost.relays += spent.daemon
            // The relays share the server and run at once, so the largest figure of each kind counts.
            cost.seconds = max(cost.seconds, spent.seconds)
            cost.server = max(cost.server, spent.server?.processorTime ?? 0)
            cost.log = max(cost.log, spent.server?.log ?? 0)
        }
        return cost
    }

    private func row(_ name: String, _ cost: Cost, _ alone: Cost) -> BenchReport.Row {
        var row = BenchReport.Row()
        row.add("relays", "relays", name)
        row.add("pushes", "pushes", cost.pushes)
        row.add("seconds", "seconds", cost.seconds)
        row.add("cpuMicroseconds", "µs/push", cost.each(cost.relays) / 1000)
        row.add("serverCPUMicroseconds", "server µs", cost.each(cost.server) / 1000)
        row.add("serverLogBytesPerPush", "log bytes", cost.each(cost.log))
        let relays = name.hasPrefix("one") ? 1.0 : 2
        // By the processor time of the relays alone, then of the relays with the database.
        row.add("share", "times one", relays * alone.each(alone.relays) / cost.each(cost.relays))
        row.add(
            "shareWithServer", "with server",
            relays * alone.each(alone.relays + alone.server) / cost.each(cost.relays + cost.server))
        return row
    }
}
