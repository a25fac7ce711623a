// SPDX-License-Identifier: Apache-2.0
import Foundation

/// All figures of a run: the JSON file as it is written, and the tables.
///
/// CPU is user and system time of the process that is named, per push or row, in microseconds. Rates are per second of wall clock.
struct BenchReport: Codable {
    /// One connection, nothing recorded.
    struct Transport: Codable {
        var streams: Int
        var pushes: Int
        /// The sending process as a whole: start, dialling, building the requests, sending.
        var cpuMicroseconds: Double
        /// Of it, the lane's thread: frames, TLS, system calls, answers.
        var laneCPUMicroseconds: Double
        var pushesPerSecond: Double
        /// What receives: the simulator in bare mode.
        var simulatorCPUMicroseconds: Double
        /// null where h2load is not installed.
        var h2loadCPUMicroseconds: Double?
        var h2loadRequestsPerSecond: Double?
        /// Ours by h2load's; below 1 is cheaper.
        var ratio: Double?
        /// How often the lane's thread asked for memory once it was warm, the most of all runs; null under a sanitizer.
        var allocationsPerPush: Double?
    }

    /// The daemon from the raised version to the campaign's end.
    struct Whole: Codable {
        var devices: Int
        /// What the simulator waited before each answer.
        var latencyMilliseconds: Int
        var seconds: Double
        var pushesPerSecond: Double
        /// The daemon's.
        var cpuMicroseconds: Double
        var simulatorCPUMicroseconds: Double
        /// Most of the daemon's memory that was resident at once; it was started anew after the import.
        var peakMemoryBytes: Int
        /// What the daemon sent to the storage layer.
        var writtenBytesPerPush: Double
        /// Opened in all.
        var connections: Int
    }

    /// The whole way while the service answers late, beside the same without latency.
    struct Late: Codable {
        var whole: Whole
        /// Its rate by that at 0 ms, in the same run.
        var share: Double
    }

    /// Two seconds in the midst of a campaign: what so many connections carry once they are open.
    struct Connections: Codable {
        var latencyMilliseconds: Int
        /// The limit that was set; null: the daemon's own.
        var limit: Int?
        /// Open at the end.
        var connections: Int
        /// Requests on their way at the end.
        var streams: Int
        var pushesPerSecond: Double
        /// What so many connections of a thousand streams could carry at most, by Little's law.
        var possiblePerSecond: Double
        /// The daemon's.
        var cpuMicroseconds: Double
        var simulatorCPUMicroseconds: Double
    }

    struct Import: Codable {
        var format: Stage.Format
        var rows: Int
        /// Rows that were there before.
        var registry: Int
        /// From the command's start to its end.
        var rowsPerSecond: Double
        /// The daemon's, per row.
        var cpuMicroseconds: Double
        /// The importing command's, per row.
        var commandCPUMicroseconds: Double
        /// What the daemon sent to the storage layer, per row.
        var writtenBytesPerRow: Double
        /// Most of the daemon's memory that was resident at once since its start.
        var peakMemoryBytes: Int
        /// Others that wrote meanwhile: one device registered after another, each with its answer awaited; null: nobody did.
        var otherWrites: Int?
        var otherMedianMilliseconds: Double?
        var otherWorstMilliseconds: Double?
    }

    /// Of several kills in one campaign, the slowest restart.
    struct Restart: Codable {
        var devices: Int
        var kills: Int
        /// From the process' start to `/readyz`, asked when the daemon says READY=1; with a new store.
        var readyEmptySeconds: Double
        /// The same after a kill.
        var readySeconds: Double
        /// From the process' start to the first push that is in the ledger.
        var resumedSeconds: Double
        /// The longest write-ahead log that a kill left behind.
        var logBytes: Int
    }

    var version = 3
    var processors = ProcessInfo.processInfo.activeProcessorCount
    var transport: [Transport] = []
    var whole: [Whole] = []
    var latency: [Late] = []
    var connections: [Connections] = []
    var imports: [Import] = []
    var restart: Restart?
    var api: [API] = []

    var json: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return try encoder.encode(self)
        }
    }

    // MARK: Tables

    static func table(_ rows: [Transport]) -> String {
        lines(
            "Transport alone, one connection",
            [
                "streams", "µs/push", "of it lane", "pushes/s", "simulator µs", "h2load µs", "h2load req/s", "ratio",
                "allocations",
            ],
            rows.map { row in
                [
                    "\(row.streams)", text(row.cpuMicroseconds), text(row.laneCPUMicroseconds),
                    whole(row.pushesPerSecond), text(row.simulatorCPUMicroseconds),
                    row.h2loadCPUMicroseconds.map(text) ?? "-", row.h2loadRequestsPerSecond.map(whole) ?? "-",
                    row.ratio.map(text) ?? "-", row.allocationsPerPush.map { String(format: "%.3f", $0) } ?? "-",
                ]
            })
    }

    static func table(_ rows: [Whole]) -> String {
        lines(
            "The whole way, by size of the audience",
            [
                "devices", "seconds", "pushes/s", "µs/push", "simulator µs", "peak MiB", "bytes written",
                "connections",
            ],
            rows.map { row in
                [
                    "\(row.devices)", text(row.seconds), whole(row.pushesPerSecond),
                    text(row.cpuMicroseconds), text(row.simulatorCPUMicroseconds), "\(row.peakMemoryBytes >> 20)",
                    text(row.writtenBytesPerPush), "\(row.connections)",
                ]
            })
    }

    static func table(_ rows: [Late]) -> String {
        lines(
            "The service answers late",
            [
                "latency", "connections", "devices", "seconds", "pushes/s", "of 0 ms", "µs/push",
                "simulator µs", "peak MiB",
            ],
            rows.map { late in
                let row = late.whole
                return [
                    "\(row.latencyMilliseconds) ms", "\(row.connections)", "\(row.devices)", text(row.seconds),
                    whole(row.pushesPerSecond), "\(Int(late.share * 100)) %",
                    text(row.cpuMicroseconds), text(row.simulatorCPUMicroseconds), "\(row.peakMemoryBytes >> 20)",
                ]
            })
    }

    static func table(_ rows: [Connections]) -> String {
        lines(
            "Rate against connections, two seconds of a campaign",
            ["latency", "limit", "connections", "streams", "pushes/s", "possible", "µs/push", "simulator µs"],
            rows.map { row in
                [
                    "\(row.latencyMilliseconds) ms", row.limit.map { "\($0)" } ?? "default", "\(row.connections)",
                    "\(row.streams)", whole(row.pushesPerSecond), whole(row.possiblePerSecond),
                    text(row.cpuMicroseconds), text(row.simulatorCPUMicroseconds),
                ]
            })
    }

    static func table(_ rows: [Import]) -> String {
        lines(
            "Imports",
            [
                "format", "rows", "registry before", "rows/s", "µs/row", "command µs", "bytes written", "peak MiB",
                "other writes", "median ms", "worst ms",
            ],
            rows.map { row in
                [
                    "\(row.format)", "\(row.rows)", "\(row.registry)", whole(row.rowsPerSecond),
                    text(row.cpuMicroseconds), text(row.commandCPUMicroseconds), text(row.writtenBytesPerRow),
                    "\(row.peakMemoryBytes >> 20)", row.otherWrites.map { "\($0)" } ?? "-",
                    row.otherMedianMilliseconds.map(text) ?? "-", row.otherWorstMilliseconds.map(text) ?? "-",
                ]
            })
    }

    static func table(_ row: Restart) -> String {
        lines(
            "Killed in the middle of a campaign",
            ["devices", "kills", "log left MiB", "ready, empty", "slowest ready again", "slowest sends again"],
            [
                [
                    "\(row.devices)", "\(row.kills)", "\(row.logBytes >> 20)",
                    milliseconds(row.readyEmptySeconds), milliseconds(row.readySeconds),
                    milliseconds(row.resumedSeconds),
                ]
            ])
    }

    private static func milliseconds(_ seconds: Double) -> String { "\(Int((seconds * 1000).rounded())) ms" }
    static func text(_ number: Double) -> String { String(format: "%.2f", number) }
    static func whole(_ number: Double) -> String { "\(Int(number))" }

    static func lines(_ title: String, _ head: [String], _ rows: [[String]]) -> String {
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        let body = ([head] + rows).map { row in
            zip(row, widths).map { String(repeating: " ", count: $1 - $0.count) + $0 }.joined(separator: "  ")
        }
        return "\n\(title)\n" + body.joined(separator: "\n")
    }
}
