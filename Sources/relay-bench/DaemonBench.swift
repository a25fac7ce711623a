// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation

/// The daemon's benchmarks, each on a stage of its own.
struct DaemonBench {
    let options: BenchOptions

    private func onStage<Result>(latency: Int = 0, _ body: (Stage) throws -> Result) throws -> Result {
        let stage = try Stage(relay: options.relay, latency: latency)
        defer { stage.tearDown() }
        return try body(stage)
    }

    // MARK: The whole way

    /// Registry, filter, payload, push, durable ledger; and before it, the import that fills the registry.
    func whole(devices: Int) throws -> (filling: BenchReport.Row, whole: BenchReport.Row) {
        try onStage { stage in
            try stage.start()
            let filling = try stage.importDevices(0..<devices, as: .ndjson)
            try stage.startAnew()
            return (filling, try campaign(stage, devices: devices, latency: 0).row)
        }
    }

    /// Both formats into a registry that is filled first, which is an import as well.
    func imports() throws -> [BenchReport.Row] {
        try onStage { stage in
            try stage.start()
            let (registry, rows) = (options["registry"], options["import-rows"])
            let second = registry + rows
            return try [
                (0..<registry, Stage.Format.csv), (registry..<second, .ndjson), (second..<second + rows, .csv),
            ].map { try stage.importDevices($0, as: $1, beside: OtherWriter(socket: stage.socketPath)) }
        }
    }

    // MARK: Latency

    /// The service answers late: does the relay hide it, and with how many connections? First without latency, whose rate the
    /// others are a share of.
    func late() throws -> [BenchReport.Row] {
        var best: Double?
        return try ([0] + options.all("latencies")).map { latency in
            try onStage(latency: latency) { stage in
                let devices = options["late-devices"]
                try stage.start()
                _ = try stage.importDevices(0..<devices, as: .ndjson)
                try stage.startAnew()
                let (row, rate) = try campaign(stage, devices: devices, latency: latency)
                best = best ?? rate
                var late = row.inside("whole")
                late.add("share", "of 0 ms", .share(rate / (best ?? rate)))
                return late
            }
        }
    }

    /// From the raised version to the campaign's end.
    private func campaign(_ stage: Stage, devices: Int, latency: Int) throws -> (row: BenchReport.Row, rate: Double) {
        let sinkBefore = try ProcessUsage(of: stage.sink.identifier)
        let before = try stage.usage()
        let began = ContinuousClock.now
        let id = try stage.raise(to: "2.0.0")
        try stage.wait("the campaign is over") { try stage.campaign(id).state == "completed" }
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        let after = try stage.usage()
        let sinkAfter = try ProcessUsage(of: stage.sink.identifier)
        let accepted = try stage.campaign(id).accepted
        let sink = try stage.stopSink()
        guard accepted == devices, sink.accepted == devices else {
            throw BenchError("of \(devices) the relay knows \(accepted) accepted, the simulator \(sink.accepted)")
        }
        func perPush(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / Double(devices) / 1000 }
        let rate = Double(devices) / elapsed
        var row = BenchReport.Row()
        // What the simulator waited before each answer.
        row.add("latencyMilliseconds", "latency ms", .count(latency))
        row.add("devices", "devices", .count(devices))
        row.add("seconds", "seconds", .decimal(elapsed))
        row.add("pushesPerSecond", "pushes/s", .rate(rate))
        row.add("cpuMicroseconds", "µs/push", .decimal(perPush(after.processorTime - before.processorTime)))
        row.add(
            "simulatorCPUMicroseconds", "simulator µs",
            .decimal(perPush(sinkAfter.processorTime - sinkBefore.processorTime)))
        // Of the daemon, which was started anew after the import.
        row.add("peakMemoryBytes", "peak MiB", .memory(after.peakMemory))
        row.add(
            "writtenBytesPerPush", "bytes written", .decimal(Double(after.written - before.written) / Double(devices)))
        // Opened in all.
        row.add("connections", "connections", .count(sink.connectionsOpened))

        return (row, rate)
    }

    /// The rate against the limit of connections, once they are open. First with the limit that the daemon has by itself.
    func sweep() throws -> [BenchReport.Row] {
        try options.all("latencies").flatMap { latency in
            try onStage(latency: latency) { stage in
                try stage.start()
                _ = try stage.importDevices(0..<options["sweep-devices"], as: .ndjson)
                let limits = [nil] + options.all("connections").map { Optional($0) }
                return try limits.enumerated().map { index, limit in
                    try stage.limit(connections: limit)
                    try stage.startAnew()
                    return try window(stage, version: index + 2, latency: latency, limit: limit)
                }
            }
        }
    }

    /// Microseconds in which the connections are found, and in which is measured.
    private static let (search, window): (UInt32, UInt32) = (1_500_000, 2_000_000)

    private func window(_ stage: Stage, version: Int, latency: Int, limit: Int?) throws -> BenchReport.Row {
        let id = try stage.beginCampaign(version: version)
        usleep(Self.search)
        let before = try stage.moment(id)
        usleep(Self.window)
        let spent = try stage.moment(id).since(before)
        let connections = try stage.metric("upgrade_relay_http2_connections_open")
        let streams = try stage.metric("upgrade_relay_http2_streams_open")
        guard try stage.api("POST", "/v1/campaigns/\(id)/cancel").status == 200 else {
            throw BenchError("the campaign was over too soon: more --sweep-devices are needed")
        }
        func perPush(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / Double(max(spent.accepted, 1)) / 1000 }
        var row = BenchReport.Row()
        row.add("latencyMilliseconds", "latency ms", .count(latency))
        // That was set; "-": the daemon's own.
        row.add("limit", "limit", .count(limit))
        row.add("connections", "connections", .count(connections))
        row.add("streams", "streams", .count(streams))
        row.add("pushesPerSecond", "pushes/s", .rate(Double(spent.accepted) / spent.seconds))
        // What so many connections of a thousand streams could carry at most, by Little's law.
        row.add("possiblePerSecond", "possible", .rate(Double(connections) * 1_000_000 / Double(latency)))
        row.add("cpuMicroseconds", "µs/push", .decimal(perPush(spent.daemon)))
        row.add("simulatorCPUMicroseconds", "simulator µs", .decimal(perPush(spent.sink)))
        return row
    }

    // MARK: Restart

    private static let kills = 3

    /// Kills the daemon in the middle of a campaign, and starts it again, a few times: the slowest counts.
    func restart() throws -> BenchReport.Row {
        try onStage { stage in
            let devices = options["resume-devices"]
            let readyEmpty = try stage.start()
            var (ready, resumed, log) = (0.0, 0.0, 0)
            _ = try stage.importDevices(0..<devices, as: .ndjson)
            let id = try stage.raise(to: "2.0.0")
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
            row.add("devices", "devices", .count(devices))
            row.add("kills", "kills", .count(Self.kills))
            // The longest write-ahead log that a kill left behind.
            row.add("logBytes", "log left MiB", .memory(log))
            // From the process' start until /readyz says 200: with a new store, and after a kill.
            row.add("readyEmptySeconds", "ready, empty", .moment(readyEmpty))
            row.add("readySeconds", "slowest ready again", .moment(ready))
            // From the process' start to the first push that is in the ledger.
            row.add("resumedSeconds", "slowest sends again", .moment(resumed))
            return row
        }
    }
}
