// SPDX-License-Identifier: Apache-2.0
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
            return try stage.importDevices(devices..<devices + rows, as: format)
        }
    }

    // MARK: Latency

    /// The service answers late: does the relay hide it, and with how many connections? First without latency, whose rate the
    /// others are a share of.
    func late() throws -> [BenchReport.Late] {
        var rows: [BenchReport.Late] = []
        var best = 0.0
        let limits = [nil] + options.connections.map { Optional($0) }
        for latency in [0] + options.latencies.filter({ $0 > 0 }) {
            for limit in latency == 0 ? [nil] : limits {
                let whole = try late(milliseconds: latency, connections: limit)
                if latency == 0 { best = whole.pushesPerSecond }
                rows.append(.init(whole: whole, connectionLimit: limit, share: whole.pushesPerSecond / best))
            }
        }
        return rows
    }

    private func late(milliseconds: Int, connections: Int?) throws -> BenchReport.Whole {
        let stage = try Stage(relay: options.relay, latency: milliseconds, connections: connections)
        defer { stage.tearDown() }
        try stage.start()
        _ = try stage.importDevices(0..<options.lateDevices, as: .ndjson)
        try stage.startAnew()
        return try campaign(stage, devices: options.lateDevices, latency: milliseconds)
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
