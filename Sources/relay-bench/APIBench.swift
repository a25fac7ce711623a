// SPDX-License-Identifier: Apache-2.0
import CLinux
import CurlTransport
import Foundation

/// What apps and operators ask, first while the campaign is paused, then while it runs. wrk asks (wrk(1)), one request at a
/// time on each connection.
///
/// With more than one processor the fan-out and the simulator have one, the API and wrk another: that shows what one does to
/// the other through locks, disk and memory, and not how the kernel shares processors out.
struct APIBench {
    private let options: BenchOptions

    init(options: BenchOptions) { self.options = options }

    /// `check`: `GET /v1/check` with the push token of another device at each request. `status`: `GET /v1/campaigns/{id}` with
    /// an API token.
    private static let paths = ["check", "status"]
    private static let tokens = 10_000

    func run() throws -> [BenchReport.Row] {
        guard let wrk = Child.path(of: "wrk") else { throw BenchError("wrk is missing: apt-get install wrk") }
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        try stage.start()
        _ = try stage.importDevices(0..<options["api-devices"], as: .ndjson)
        let asker = Asker(
            wrk: wrk, stage: stage, seconds: options["api-seconds"], connections: options["api-connections"],
            isApart: place(stage))
        let token = try stage.createToken(scope: "status")
        let devices = min(Self.tokens, options["api-devices"])
        let list = (0..<devices).map { "\"\(Sender.token($0))\"" }.joined(separator: ",")
        var version = 1
        // One campaign for each figure, so that each begins with the whole audience.
        func campaign() throws -> String {
            version += 1
            return try stage.beginCampaign(version: version)
        }
        func ask(_ path: String, about id: String) throws -> Asker.Load {
            guard path == "check" else {
                return try asker.ask(
                    "/v1/campaigns/\(id)", about: id, script: "", header: "Authorization: Bearer \(token)")
            }
            let target = "/v1/check?app=\(Sender.topic)&platform=\(Stage.platform)&version=1.0.0&token="
            let script = """
                local tokens, next = {\(list)}, 0
                request = function()
                    next = (next + 7919) % #tokens
                    return wrk.format(nil, "\(target)" .. tokens[next + 1])
                end
                """
            return try asker.ask(target + Sender.token(0), about: id, script: script, header: "Accept: */*")
        }
        let paused = try campaign()
        guard try stage.api("POST", "/v1/campaigns/\(paused)/pause").status == 200 else {
            throw BenchError("the campaign was over before it could be paused: more --api-devices are needed")
        }
        try stage.wait("nothing is on its way") { try stage.campaign(paused).counts["inFlight"] == 0 }
        let idle = try Self.paths.map { try ask($0, about: paused) }
        let alone = try asker.rest(try campaign())
        return try zip(Self.paths, idle).map { path, idle in
            let busy = try ask(path, about: try campaign())
            guard busy.pushesPerSecond > 0 else { throw BenchError("nothing was sent while the API was asked") }
            var row = BenchReport.Row()
            row.add("path", "path", .word(path))
            row.add("placement", nil, .word(asker.isApart ? "apart" : "shared"))
            row.add("connections", nil, .count(options["api-connections"]))
            for (key, heading, load) in [("idle", "idle ", idle), ("underFanOut", "", busy)] {
                row.add("\(key).requestsPerSecond", heading + "req/s", .rate(load.requestsPerSecond))
                row.add("\(key).p50Microseconds", heading + "p50 µs", .rate(load.p50Microseconds))
                row.add("\(key).p99Microseconds", heading + "p99 µs", .rate(load.p99Microseconds))
                // All threads of the daemon but the fan-out's and its lanes', per request.
                row.add("\(key).cpuMicroseconds", heading + "CPU µs", .decimal(load.cpuMicroseconds))
            }
            // Requests per second under the fan-out by those when idle; 1 is no loss.
            row.add("ratio", "ratio", .decimal(busy.requestsPerSecond / idle.requestsPerSecond))
            // While nobody asks, and while somebody does.
            row.add("pushesPerSecondAlone", "pushes/s alone", .rate(alone))
            row.add("pushesPerSecond", "pushes/s", .rate(busy.pushesPerSecond))
            return row
        }
    }

    /// - Returns: false where there are too few processors.
    private func place(_ stage: Stage) -> Bool {
        guard let daemon = stage.daemon, relay_affinity() & 3 == 3 else { return false }
        // A thread that has ended meanwhile needs no place.
        for thread in ThreadUsage.all(of: daemon.identifier) {
            _ = relay_set_affinity(thread.id, Stage.isOfFanOut(thread) ? 2 : 1)
        }
        for thread in ThreadUsage.all(of: stage.sink.identifier) { _ = relay_set_affinity(thread.id, 2) }
        return true
    }
}

/// Asks the API for a while, and says what that cost whom.
private struct Asker {
    struct Load {
        var requestsPerSecond = 0.0
        var p50Microseconds = 0.0
        var p99Microseconds = 0.0
        var cpuMicroseconds = 0.0
        var pushesPerSecond = 0.0
    }

    let wrk: String
    let stage: Stage
    let seconds: Int
    let connections: Int
    let isApart: Bool

    /// How many pushes a second a campaign makes while nobody asks.
    func rest(_ campaign: String) throws -> Double {
        let before = try stage.moment(campaign)
        usleep(UInt32(seconds) * 1_000_000)
        let spent = try stage.moment(campaign).since(before)
        return Double(spent.accepted) / spent.seconds
    }

    func ask(_ target: String, about campaign: String, script: String, header: String) throws -> Load {
        let path = stage.folder.appending(path: "wrk.lua").path
        // Microseconds, as wrk's LuaJIT has them (wrk's SCRIPTING).
        let report = """

            done = function(summary, latency)
                io.write(string.format("\\n=%d %d %f %f\\n", summary.requests, summary.errors.status,
                    latency:percentile(50), latency:percentile(99)))
            end
            """
        try (script + report).write(toFile: path, atomically: false, encoding: .utf8)
        let before = try stage.moment(campaign)
        let words = [
            wrk, "-t", "1", "-c", "\(connections)", "-d", "\(seconds)s", "-s", path, "-H", header,
            "http://127.0.0.1:\(try stage.apiPort())\(target)",
        ]
        let said = try Child("/usr/bin/env", isApart ? ["taskset", "1"] + words : words).result()
        let spent = try stage.moment(campaign).since(before)
        let text = String(decoding: said, as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("=") }?.dropFirst()
        let numbers = (line ?? "").split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 4, numbers[0] > 0, numbers[1] == 0 else {
            throw BenchError("wrk was not answered with 200: \(text)")
        }
        return Load(
            requestsPerSecond: numbers[0] / Double(seconds), p50Microseconds: numbers[2], p99Microseconds: numbers[3],
            cpuMicroseconds: Double(spent.daemon - min(spent.fanOut, spent.daemon)) / 1000 / numbers[0],
            pushesPerSecond: Double(spent.accepted) / spent.seconds)
    }
}
