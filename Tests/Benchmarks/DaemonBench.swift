// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The daemon's benchmarks, each on a stage of its own.
struct DaemonBench {
    let options: BenchOptions

    private func onStage<Result>(
        latency: Int = 0, platform: String = Stage.platform, store: StageStore = .sqlite,
        _ body: (Stage) throws -> Result
    ) throws -> Result {
        let stage = try Stage(
            relay: options.relay, latency: latency, platform: platform,
            server: store == .postgres ? StageServer() : nil)
        defer { stage.tearDown() }
        return try body(stage)
    }

    /// Imports both formats into a registry that is filled first, which is an import as well.
    func imports(_ store: StageStore) throws -> [BenchReport.Row] {
        try onStage(store: store) { stage in
            try stage.start()
            let (registry, rows) = (options["registry"], options["import-rows"])
            let second = registry + rows
            return try [
                (0..<registry, Stage.Format.csv), (registry..<second, .ndjson), (second..<second + rows, .csv),
            ].map { try stage.importDevices($0, as: $1, beside: OtherWriter(socket: stage.socketPath)) }
        }
    }

    /// Imports devices into nothing; the file of the night after, in which one of a hundred has another version; and devices of a number
    /// that the registry has forty times. The reference is the store alone with as many new rows.
    func growth(_ devices: Int, _ store: StageStore) throws -> [BenchReport.Row] {
        try onStage(store: store) { stage in
            try stage.start()
            var rows = try [
                stage.importDevices(0..<devices, as: .csv),
                stage.importDevices(0..<devices, as: .csv, isNightly: true),
                stage.importDevices(devices..<devices + devices / 40, as: .csv),
            ]
            let bare = try BareStore.cost(devices, stage)
            for place in rows.indices {
                // Daemon and server for each of the bare store's.
                let own = ["cpuMicroseconds", "serverCPUMicroseconds"].compactMap { rows[place].figure($0) }.reduce(
                    0, +)
                rows[place].add("bareMicroseconds", "bare µs", bare)
                rows[place].add("ratio", "ratio", bare.map { own / $0 })
            }
            return rows
        }
    }

    // MARK: The whole way

    /// Measures the whole way: registry, filter, payload, push, durable ledger, from the raised version to the campaign's end; and
    /// before it, the import that fills the registry.
    /// - Parameter latency: the service's time to answer, in milliseconds.
    func whole(
        devices: Int, latency: Int = 0, platform: String = Stage.platform, store: StageStore = .sqlite
    ) throws -> (filling: BenchReport.Row, whole: BenchReport.Row, rate: Double) {
        try onStage(latency: latency, platform: platform, store: store) { stage in
            try stage.start()
            let filling = try stage.importDevices(0..<devices)
            try stage.start()
            guard let daemon = stage.daemon?.identifier else { throw BenchError("no daemon runs") }
            let (before, writtenBefore) = (try stage.moment(), try ProcessUsage(of: daemon).written)
            let id = try stage.raise(to: 2)
            // The cost of the questions is counted too, so only a few are asked: one every tenth of a second with a million
            // devices.
            let pause = UInt32(min(max(devices / 10, 10_000), 200_000))
            try stage.wait("the campaign is over", pause: pause) { try stage.campaign(id).state == "completed" }
            let spent = try stage.spent(since: before, id)
            let usage = try ProcessUsage(of: daemon)
            let sink = try stage.stopSink()
            // For FCM, the bare sink also counts the request for an access token.
            guard spent.accepted == devices, (devices...devices + (platform == "ios" ? 0 : 1)).contains(sink.accepted)
            else {
                throw BenchError(
                    "of \(devices) the relay knows \(spent.accepted) accepted, the simulator \(sink.accepted)")
            }
            var row = BenchReport.Row()
            row.add("store", "store", store.rawValue)
            // The simulator's delay before each answer.
            row.add("latencyMilliseconds", "latency ms", latency)
            row.add("devices", "devices", devices)
            row.add("seconds", "seconds", spent.seconds)
            spent.addCosts(to: &row)
            spent.addServerCosts(to: &row)
            // The daemon's memory; it was started anew after the import.
            row.add("peakMemoryBytes", "peak MiB", bytes: usage.peakMemory)
            // Includes the database's server.
            let written = usage.written - writtenBefore + (spent.server?.written ?? 0)
            row.add("writtenBytesPerPush", "bytes written", Double(written) / Double(devices))
            // The number of connections opened in all.
            row.add("connections", "connections", sink.connectionsOpened)
            return (filling, row, spent.rate)
        }
    }

    /// The service answers late: whether the relay hides that, and with how many connections. The first row has no latency; the
    /// other rates are shares of its rate.
    func late() throws -> [BenchReport.Row] {
        var best: Double?
        return try ([0] + options.all("latencies")).map { latency in
            var (_, row, rate) = try whole(devices: options["late-devices"], latency: latency)
            best = best ?? rate
            row.add("share", "% of 0 ms", best.map { rate / $0 }, decimals: 0, times: 100)
            return row
        }
    }

    // MARK: Connections

    /// The rate against the limit of connections, once they are open. The first row has the daemon's default limit.
    func sweep() throws -> [BenchReport.Row] {
        try options.all("latencies").flatMap { latency in
            try onStage(latency: latency) { stage in
                try stage.start()
                try stage.importDevices(0..<options["sweep-devices"])
                let limits = [nil] + options.all("connections").map { Optional($0) }
                return try limits.enumerated().map { index, limit in
                    try stage.start(connections: limit)
                    return try window(stage, version: index + 2, latency: latency, limit: limit)
                }
            }
        }
    }

    /// The time until the connections are found, and the time of measuring, in microseconds.
    private static let (search, window): (UInt32, UInt32) = (1_500_000, 2_000_000)

    private func window(_ stage: Stage, version: Int, latency: Int, limit: Int?) throws -> BenchReport.Row {
        let id = try stage.beginCampaign(version: version)
        usleep(Self.search)
        let spent = try stage.spent(on: id) { usleep(Self.window) }
        let connections = try stage.metric("upgrade_relay_http2_connections_open")
        let streams = try stage.metric("upgrade_relay_http2_streams_open")
        try stage.api("POST", "/v1/campaigns/\(id)/cancel")
        var row = BenchReport.Row()
        row.add("latencyMilliseconds", "latency ms", latency)
        // The limit that was set; "-": the daemon's default.
        row.add("limit", "limit", limit)
        row.add("connections", "connections", connections)
        row.add("streams", "streams", streams)
        // By Little's law, the most that so many connections of a thousand streams could carry.
        row.add("possiblePerSecond", "possible", Double(connections) * 1_000_000 / Double(latency), decimals: 0)
        spent.addCosts(to: &row)
        return row
    }

    // MARK: Restart

    private static let kills = 3

    /// Kills the daemon in the middle of a campaign, and starts it again, several times: the slowest restart counts.
    func restart() throws -> BenchReport.Row {
        try onStage { stage in
            let devices = options["resume-devices"]
            let readyEmpty = try stage.start()
            var (ready, resumed, log) = (0.0, 0.0, 0)
            try stage.importDevices(0..<devices)
            let id = try stage.raise(to: 2)
            for kill in 1...Self.kills {
                try stage.wait("the campaign is done in part", pause: 2000) {
                    try stage.campaign(id).accepted >= devices / (Self.kills + 1) * kill
                }
                stage.kill()
                log = max(log, stage.logBytes)
                let began = ContinuousClock.now
                ready = max(ready, try stage.start())
                let already = try stage.campaign(id).accepted
                try stage.wait("the campaign goes on", pause: 1000) { try stage.campaign(id).accepted > already }
                resumed = max(resumed, (ContinuousClock.now - began) / .seconds(1))
            }
            try stage.wait("the campaign is over") { try stage.campaign(id).state == "completed" }
            let accepted = try stage.campaign(id).accepted
            guard accepted == devices else {
                throw BenchError("\(accepted) of \(devices) were accepted after the restarts")
            }
            var row = BenchReport.Row()
            row.add("devices", "devices", devices)
            row.add("kills", "kills", Self.kills)
            // The longest write-ahead log that a kill left behind.
            row.add("logBytes", "log left MiB", bytes: log)
            // From the start of the process until /readyz answers 200: with a new store, and after a kill.
            row.add("readyEmptySeconds", "ready, empty, ms", readyEmpty, decimals: 0, times: 1000)
            row.add("readySeconds", "slowest ready again, ms", ready, decimals: 0, times: 1000)
            // From the start of the process to the first push that is in the ledger.
            row.add("resumedSeconds", "slowest sends again, ms", resumed, decimals: 0, times: 1000)
            return row
        }
    }
}
