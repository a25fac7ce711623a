// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation

/// The daemon's benchmarks, each on a stage of its own.
struct DaemonBench {
    let options: BenchOptions

    // MARK: The whole way

    /// Registry, filter, payload, push, durable ledger; and before it, the import that fills the registry.
    func whole(devices: Int) throws -> (BenchReport.Whole, [BenchReport.Import]) {
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        try stage.start()
        let filling = try stage.importDevices(0..<devices, as: .ndjson)
        try stage.startAnew()
        return (try campaign(stage, devices: devices, latency: 0), [filling])
    }

    // MARK: Imports

    /// Both formats into a registry that is filled first, which is an import as well.
    func imports() throws -> [BenchReport.Import] {
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        try stage.start()
        var devices = 0
        return try [(options.registry, .csv), (options.importRows, .ndjson), (options.importRows, .csv)].map {
            (rows: Int, format: Stage.Format) in
            defer { devices += rows }
            return try stage.importDevices(
                devices..<devices + rows, as: format, beside: OtherWriter(socket: stage.socketPath))
        }
    }

    // MARK: Latency

    /// The service answers late: does the relay hide it, and with how many connections? First without latency, whose rate the
    /// others are a share of.
    func late() throws -> [BenchReport.Late] {
        var rows: [BenchReport.Late] = []
        var best = 0.0
        for latency in [0] + options.latencies.filter({ $0 > 0 }) {
            let whole = try late(milliseconds: latency)
            if latency == 0 { best = whole.pushesPerSecond }
            rows.append(.init(whole: whole, share: whole.pushesPerSecond / best))
        }
        return rows
    }

    private func late(milliseconds: Int) throws -> BenchReport.Whole {
        let stage = try Stage(relay: options.relay, latency: milliseconds)
        defer { stage.tearDown() }
        try stage.start()
        _ = try stage.importDevices(0..<options.lateDevices, as: .ndjson)
        try stage.startAnew()
        return try campaign(stage, devices: options.lateDevices, latency: milliseconds)
    }

    /// The same against the limit of connections, once they are open. First with the limit that the daemon has by itself.
    func sweep() throws -> [BenchReport.Connections] {
        var rows: [BenchReport.Connections] = []
        for latency in options.latencies where latency > 0 && !options.connections.isEmpty {
            let stage = try Stage(relay: options.relay, latency: latency)
            defer { stage.tearDown() }
            try stage.start()
            _ = try stage.importDevices(0..<options.sweepDevices, as: .ndjson)
            for (index, limit) in ([nil] + options.connections.map { Optional($0) }).enumerated() {
                try stage.limit(connections: limit)
                try stage.startAnew()
                rows.append(try window(stage, version: index + 2, latency: latency, limit: limit))
            }
        }
        return rows
    }

    /// Microseconds in which the connections are found, and in which is measured.
    private static let (search, window): (UInt32, UInt32) = (1_500_000, 2_000_000)

    private func window(_ stage: Stage, version: Int, latency: Int, limit: Int?) throws -> BenchReport.Connections {
        let id = try stage.raise(to: "\(version).0.0")
        try stage.wait("the campaign begins", pause: 2000) { try stage.campaign(id).accepted > 0 }
        usleep(Self.search)
        func moment() throws -> (time: ContinuousClock.Instant, accepted: Int, cpu: UInt64, sink: UInt64) {
            let accepted = try stage.campaign(id).accepted
            return (
                .now, accepted, try stage.figures().processorTime,
                try ProcessFigures(of: stage.sink.identifier).processorTime
            )
        }
        let before = try moment()
        usleep(Self.window)
        let after = try moment()
        let connections = try stage.metric("upgrade_relay_http2_connections_open")
        let streams = try stage.metric("upgrade_relay_http2_streams_open")
        guard try stage.api("POST", "/v1/campaigns/\(id)/cancel").status == 200 else {
            throw BenchError("the campaign was over too soon: more --sweep-devices are needed")
        }
        let pushes = Double(after.accepted - before.accepted)
        return .init(
            latencyMilliseconds: latency, limit: limit, connections: connections, streams: streams,
            pushesPerSecond: pushes / ((after.time - before.time) / .seconds(1)),
            possiblePerSecond: Double(connections) * 1_000_000 / Double(latency),
            cpuMicroseconds: Double(after.cpu - before.cpu) / pushes / 1000,
            simulatorCPUMicroseconds: Double(after.sink - before.sink) / pushes / 1000)
    }

    private func campaign(_ stage: Stage, devices: Int, latency: Int) throws -> BenchReport.Whole {
        let sinkBefore = try ProcessFigures(of: stage.sink.identifier)
        let before = try stage.figures()
        let began = ContinuousClock.now
        let id = try stage.raise(to: "2.0.0")
        try stage.wait("the campaign is over") { try stage.campaign(id).state == "completed" }
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        let after = try stage.figures()
        let sinkAfter = try ProcessFigures(of: stage.sink.identifier)
        let accepted = try stage.campaign(id).accepted
        let sink = try stage.stopSink()
        guard accepted == devices, sink.accepted == devices else {
            throw BenchError("of \(devices) the relay knows \(accepted) accepted, the simulator \(sink.accepted)")
        }
        func perPush(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / Double(devices) / 1000 }
        return BenchReport.Whole(
            devices: devices, latencyMilliseconds: latency, seconds: elapsed,
            pushesPerSecond: Double(devices) / elapsed,
            cpuMicroseconds: perPush(after.processorTime - before.processorTime),
            simulatorCPUMicroseconds: perPush(sinkAfter.processorTime - sinkBefore.processorTime),
            peakMemoryBytes: after.peakMemory,
            writtenBytesPerPush: Double(after.written - before.written) / Double(devices),
            connections: sink.connectionsOpened)
    }

    // MARK: Restart

    private static let kills = 3

    /// Kills the daemon in the middle of a campaign, and starts it again, a few times: the slowest counts.
    func restart() throws -> BenchReport.Restart {
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        let devices = options.resumeDevices
        var result = BenchReport.Restart(
            devices: devices, kills: Self.kills, readyEmptySeconds: try stage.start(), readySeconds: 0,
            resumedSeconds: 0, logBytes: 0)
        _ = try stage.importDevices(0..<devices, as: .ndjson)
        let id = try stage.raise(to: "2.0.0")
        for kill in 1...Self.kills {
            try stage.wait("the campaign is done in part", pause: 2000) {
                try stage.campaign(id).accepted >= devices / (Self.kills + 1) * kill
            }
            stage.kill()
            result.logBytes = max(result.logBytes, stage.logBytes)
            let began = ContinuousClock.now
            let ready = try stage.start()
            let already = try stage.campaign(id).accepted
            try stage.wait("the campaign goes on", pause: 1000) { try stage.campaign(id).accepted > already }
            let resumed = (ContinuousClock.now - began) / .seconds(1)
            result.readySeconds = max(result.readySeconds, ready)
            result.resumedSeconds = max(result.resumedSeconds, resumed)
        }
        try stage.wait("the campaign is over") { try stage.campaign(id).state == "completed" }
        let accepted = try stage.campaign(id).accepted
        guard accepted == devices else {
            throw BenchError("\(accepted) of \(devices) were accepted after the restarts")
        }
        return result
    }
}
