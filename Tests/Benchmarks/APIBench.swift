// SPDX-License-Identifier: Apache-2.0
import CLinux
import Foundation

/// The requests of apps and operators, first while the campaign is paused, then while it runs. wrk(1) sends them, one request at a
/// time on each connection.
///
/// With more than one processor, the fan-out and the simulator share one, the API and wrk another. This shows the effect of one on
/// the other through locks, disk and memory, not through the kernel's scheduling.
struct APIBench {
    private let options: BenchOptions
    private let wrk: String
    private let stage: Stage
    private let isApart: Bool

    static func run(_ options: BenchOptions) throws -> [BenchReport.Row] {
        guard let wrk = Child.path(of: "wrk") else { throw BenchError("wrk is missing: apt-get install wrk") }
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        try stage.start()
        try stage.importDevices(0..<options["api-devices"])
        return try APIBench(options: options, wrk: wrk, stage: stage, isApart: place(stage)).run()
    }

    /// - Returns: false if there are too few processors.
    private static func place(_ stage: Stage) -> Bool {
        guard let daemon = stage.daemon, relay_affinity() & 3 == 3 else { return false }
        // A thread that has ended since needs no place.
        for thread in ThreadUsage.all(of: daemon.identifier) {
            _ = relay_set_affinity(thread.id, thread.isOfFanOut ? 2 : 1)
        }
        for thread in ThreadUsage.all(of: stage.sink.identifier) { _ = relay_set_affinity(thread.id, 2) }
        return true
    }

    /// A request that wrk repeats.
    private struct Question {
        let path: String
        let target: String
        let script: String
        let header: String
    }

    private static let tokens = 10_000

    private func questions(about campaign: String, token: String) -> [Question] {
        let check = "/v1/check?app=\(Sender.topic)&platform=\(Stage.platform)&version=1.0.0&token="
        let tokens = (0..<min(Self.tokens, options["api-devices"])).map { "\"\(Sender.token($0))\"" }
        // The push token of another device at each request.
        let script = """
            local tokens, next = {\(tokens.joined(separator: ","))}, 0
            request = function()
                next = (next + 7919) % #tokens
                return wrk.format(nil, "\(check)" .. tokens[next + 1])
            end
            """
        // A proxy's request for each request of an app that may go on.
        let enforce = "/v1/enforce?app=\(Sender.topic)&platform=\(Stage.platform)"
        return [
            Question(path: "check", target: check + Sender.token(0), script: script, header: "Accept: */*"),
            Question(path: "enforce", target: enforce, script: "", header: "X-App-Version: 999.0.0"),
            Question(
                path: "status", target: "/v1/campaigns/\(campaign)", script: "",
                header: "Authorization: Bearer \(token)"),
        ]
    }

    /// Returns a row for each question while a campaign is paused, a row for each while one runs, and a row for a campaign without
    /// questions.
    private func run() throws -> [BenchReport.Row] {
        let token = try stage.createToken(scope: "status")
        let paused = try stage.beginCampaign(version: 2)
        try stage.api("POST", "/v1/campaigns/\(paused)/pause")
        try stage.wait("nothing is on its way") { try stage.campaign(paused).counts["inFlight"] == 0 }
        var rows: [BenchReport.Row] = []
        let idle = try questions(about: paused, token: token).map { question in
            let load = try ask(question, about: paused)
            rows.append(row(question.path, "paused", load))
            return load
        }
        for index in idle.indices {
            // One campaign for each figure, so that each begins with the whole audience.
            let running = try stage.beginCampaign(version: 3 + index)
            let question = questions(about: running, token: token)[index]
            let load = try ask(question, about: running)
            guard load.spent.accepted > 0 else { throw BenchError("nothing was sent while the API was asked") }
            rows.append(row(question.path, "runs", load, than: idle[index]))
        }
        let alone = try stage.beginCampaign(version: 3 + idle.count)
        let spent = try stage.spent(on: alone) { usleep(UInt32(options["api-seconds"]) * 1_000_000) }
        rows.append(row("-", "runs", Load(spent: spent)))
        return rows
    }

    private func row(_ path: String, _ campaign: String, _ load: Load, than idle: Load? = nil) -> BenchReport.Row {
        var row = BenchReport.Row()
        row.add("path", "path", path)
        row.add("campaign", "campaign", campaign)
        row.add("placement", nil, isApart ? "apart" : "shared")
        row.add("connections", nil, options["api-connections"])
        row.add("requestsPerSecond", "req/s", load.requestsPerSecond, decimals: 0)
        row.add("p50Microseconds", "p50 µs", load.p50Microseconds, decimals: 0)
        row.add("p99Microseconds", "p99 µs", load.p99Microseconds, decimals: 0)
        // Per request, by all threads of the daemon except the fan-out's and its lanes'.
        row.add("cpuMicroseconds", "CPU µs", load.cpuMicroseconds)
        // The requests per second, as a share of those while the campaign was paused; 1: no loss.
        let ratio = idle?.requestsPerSecond.flatMap { idle in load.requestsPerSecond.map { $0 / idle } }
        row.add("ratio", "ratio", ratio)
        row.add("pushesPerSecond", "pushes/s", load.spent.rate, decimals: 0)
        return row
    }

    /// The figures from wrk, and the costs.
    private struct Load {
        var requestsPerSecond: Double?
        var p50Microseconds: Double?
        var p99Microseconds: Double?
        var cpuMicroseconds: Double?
        var spent: Stage.Moment
    }

    private func ask(_ question: Question, about campaign: String) throws -> Load {
        let path = stage.folder.appending(path: "wrk.lua").path
        // Microseconds, as wrk's LuaJIT has them (wrk's SCRIPTING).
        let report = """

            done = function(summary, latency)
                io.write(string.format("\\n=%d %d %f %f\\n", summary.requests, summary.errors.status,
                    latency:percentile(50), latency:percentile(99)))
            end
            """
        try (question.script + report).write(toFile: path, atomically: false, encoding: .utf8)
        let seconds = options["api-seconds"]
        let words = [
            wrk, "-t", "1", "-c", "\(options["api-connections"])", "-d", "\(seconds)s", "-s", path,
            "-H", question.header, "http://127.0.0.1:\(try stage.apiPort())\(question.target)",
        ]
        var text = ""
        let spent = try stage.spent(on: campaign) {
            let said = try Child("/usr/bin/env", isApart ? ["taskset", "1"] + words : words).result()
            text = String(decoding: said, as: UTF8.self)
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("=") }?.dropFirst()
        let numbers = (line ?? "").split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 4, numbers[0] > 0, numbers[1] == 0 else {
            throw BenchError("wrk was not answered with 2xx: \(text)")
        }
        return Load(
            requestsPerSecond: numbers[0] / Double(seconds), p50Microseconds: numbers[2], p99Microseconds: numbers[3],
            cpuMicroseconds: Double(spent.daemon - min(spent.fanOut, spent.daemon)) / 1000 / numbers[0], spent: spent)
    }
}
