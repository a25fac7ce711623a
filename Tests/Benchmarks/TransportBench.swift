// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The transport alone, on one connection: the relay's lane against the sink, and h2load against the same sink, in turns, so that
/// other load on the machine affects both.
struct TransportBench {
    let options: BenchOptions

    /// The most allocations of the lane's thread per push, where many pushes share a turn of the loop: a turn costs some
    /// allocations, and so does a batch. nghttp2 alone would take six from malloc for each request.
    static let allocationBound = 0.2
    private static let manyStreams = 100

    /// - Throws: if the allocations reach `allocationBound`.
    static func check(_ allocations: [Int: Double]) throws {
        for (streams, count) in allocations where streams >= manyStreams && count >= allocationBound {
            throw BenchError(
                "the lane asked for memory \(count) times per push with \(streams) streams; it should be below "
                    + "\(allocationBound)")
        }
    }

    /// - Returns: the rows, and for each number of streams the allocations of the lane's thread per push once it was warm, the most
    ///   of all runs; none under a sanitizer.
    func run() throws -> (rows: [BenchReport.Row], allocations: [Int: Double]) {
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        let h2load = try H2Load(stage: stage)
        var allocations: [Int: Double] = [:]
        let rows = try options.all("streams").map { streams in
            var ours: [Sender.Result] = []
            var (times, theirTimes, sinkTimes): ([UInt64], [UInt64], [UInt64]) = ([], [], [])
            var theirRate: Double?
            for _ in 0..<options["runs"] {
                let sinkBefore = try ProcessUsage(of: stage.sink.identifier).processorTime
                let before = ProcessUsage.childrensTime
                ours.append(try send(stage, streams: streams))
                let between = ProcessUsage.childrensTime
                times.append(between - before)
                sinkTimes.append(try ProcessUsage(of: stage.sink.identifier).processorTime - sinkBefore)
                guard let h2load else { continue }
                theirRate = max(theirRate ?? 0, try h2load.run(requests: options["pushes"], streams: streams))
                theirTimes.append(ProcessUsage.childrensTime - between)
            }
            allocations[streams] = ours.compactMap(\.allocations).max()
            let (cost, theirCost) = (perPush(times), perPush(theirTimes))
            var row = BenchReport.Row()
            row.add("streams", "streams", streams)
            row.add("pushes", nil, options["pushes"])
            // The whole sending process: start, dialling, building the requests, sending.
            row.add("cpuMicroseconds", "µs/push", cost)
            // The part of the lane's thread: frames, TLS, system calls, answers.
            row.add("laneCPUMicroseconds", "of it lane", perPush(ours.map(\.laneTime)))
            let rate = ours.map(\.seconds).min().map { Double(options["pushes"]) / $0 }
            row.add("pushesPerSecond", "pushes/s", rate, decimals: 0)
            row.add("simulatorCPUMicroseconds", "simulator µs", perPush(sinkTimes))
            row.add("h2loadCPUMicroseconds", "h2load µs", theirCost)
            row.add("h2loadRequestsPerSecond", "h2load req/s", theirRate, decimals: 0)
            // Our CPU divided by h2load's; below 1 is cheaper.
            row.add("ratio", "ratio", cost.flatMap { cost in theirCost.map { cost / $0 } })
            row.add("allocationsPerPush", "allocations", allocations[streams])
            return row
        }
        return (rows, allocations)
    }

    /// The microseconds of CPU of a push that is built and sent, and no more: of the whole sending process, on one connection.
    func bare() throws -> Double? {
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        let times = try (0..<options["runs"]).map { _ in
            let before = ProcessUsage.childrensTime
            _ = try send(stage, streams: options.all("streams").max() ?? 1)
            return ProcessUsage.childrensTime - before
        }
        return perPush(times)
    }

    /// The microseconds of a push by the best of all runs, which was disturbed least.
    private func perPush(_ times: [UInt64]) -> Double? {
        times.min().map { Double($0) / Double(options["pushes"]) / 1000 }
    }

    /// The two libraries that carry requests, with one token and with many in each, in turns.
    func carriers() throws -> [BenchReport.Row] {
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        let ways = [
            ("nghttp2", 1), ("libcurl", 1), ("nghttp2", 100), ("libcurl", 100), ("nghttp2", 1000), ("libcurl", 1000),
        ]
        var results = ways.map { _ in [(time: UInt64, seconds: Double)]() }
        for _ in 0..<options["runs"] {
            for (place, (carrier, tokens)) in ways.enumerated() {
                let before = ProcessUsage.childrensTime
                let result = try send(stage, streams: Self.manyStreams, [carrier, "\(tokens)"])
                results[place].append((ProcessUsage.childrensTime - before, result.seconds))
            }
        }
        return zip(ways, results).map { way, results in
            var row = BenchReport.Row()
            row.add("carrier", "carrier", way.0)
            row.add("tokens", "tokens a request", way.1)
            row.add("cpuMicroseconds", "µs/push", perPush(results.map(\.time)))
            let rate = results.map(\.seconds).min().map { Double(options["pushes"]) / $0 }
            row.add("pushesPerSecond", "pushes/s", rate, decimals: 0)
            return row
        }
    }

    private func send(_ stage: Stage, streams: Int, _ carrier: [String] = []) throws -> Sender.Result {
        let words =
            ["send", "\(stage.port)", stage.authorityPath, stage.keyPath, "\(options["pushes"])", "\(streams)"]
            + carrier
        let result = try JSONDecoder().decode(Sender.Result.self, from: Child(BenchOptions.program, words).result())
        guard result.accepted == options["pushes"], result.connections == 1 else {
            throw BenchError("\(result.accepted) of \(options["pushes"]) accepted on \(result.connections) connections")
        }
        return result
    }
}

/// nghttp2's load generator with requests as similar as possible: 10,000 paths in turns, one apns-id for all, a body of the same
/// size.
struct H2Load {
    private let path: String
    private let arguments: [String]

    /// Returns nil if h2load is not installed.
    init?(stage: Stage) throws {
        guard let path = Child.path(of: "h2load") else { return nil }
        self.path = path
        let addresses = (0..<10_000).map { "https://127.0.0.1:\(stage.port)/3/device/\(Sender.token($0))\n" }
        let addressPath = stage.folder.appending(path: "h2load-addresses").path
        let bodyPath = stage.folder.appending(path: "h2load-body").path
        try addresses.joined().write(toFile: addressPath, atomically: false, encoding: .utf8)
        try Data(Sender.sampleBody).write(to: URL(fileURLWithPath: bodyPath))
        let fields = try Sender.sampleFields(key: stage.key).flatMap { ["-H", "\($0.name): \($0.value)"] }
        arguments = ["-c", "1", "-t", "1", "-i", addressPath, "-d", bodyPath, "-H", ":method: POST"] + fields
    }

    /// - Returns: requests per second.
    func run(requests: Int, streams: Int) throws -> Double {
        let began = ContinuousClock.now
        let child = try Child(path, ["-n", "\(requests)", "-m", "\(streams)"] + arguments)
        let text = String(decoding: try child.result(), as: UTF8.self)
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        // h2load 1.52 drops a few requests that it opened before it knew the server's limit of streams.
        let codes = text.split(separator: "\n").first { $0.hasPrefix("status codes: ") }
        guard let words = codes?.split(separator: " "), words.count > 2, let good = Int(words[2]),
            good >= requests * 99 / 100
        else { throw BenchError("h2load was not answered with 200: \(text)") }
        return Double(good) / elapsed
    }
}
