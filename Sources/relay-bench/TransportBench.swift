// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The transport alone, on one connection: the relay's lane against the simulator's bare mode, and h2load against the
/// same, in turns, so that what else the machine does hits both.
struct TransportBench {
    let options: BenchOptions

    /// Allocations of the lane's thread for each push, at most, where many share a turn of the loop, which costs some as a
    /// batch does. nghttp2 alone would take six for each request from malloc.
    static let allocationBound = 0.2
    private static let manyStreams = 100

    /// - Throws: where a push takes memory again.
    static func check(_ allocations: [Int: Double]) throws {
        for (streams, count) in allocations where streams >= manyStreams && count >= allocationBound {
            throw BenchError(
                "the lane asked for memory \(count) times per push with \(streams) streams; it should be below "
                    + "\(allocationBound)")
        }
    }

    /// - Returns: the rows, and for each number of streams how often the lane's thread asked for memory per push once it was
    ///   warm, the most of all runs; none under a sanitizer.
    func run() throws -> (rows: [BenchReport.Row], allocations: [Int: Double]) {
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        let h2load = try H2Load(stage: stage)
        var allocations: [Int: Double] = [:]
        let rows = try options.all("streams").map { streams in
            var ours: [Sender.Result] = []
            var theirs: [H2Load.Result] = []
            var sinkTimes: [UInt64] = []
            for _ in 0..<options["runs"] {
                let before = try ProcessUsage(of: stage.sink.identifier).processorTime
                ours.append(try send(stage, streams: streams))
                sinkTimes.append(try ProcessUsage(of: stage.sink.identifier).processorTime - before)
                if let h2load { theirs.append(try h2load.run(requests: options["pushes"], streams: streams)) }
            }
            allocations[streams] = ours.compactMap(\.allocations).max()
            // The run that was disturbed least.
            guard let best = ours.min(by: { $0.processTime < $1.processTime }), let sinkTime = sinkTimes.min() else {
                throw BenchError("no runs")
            }
            let rival = theirs.min { $0.processTime < $1.processTime }
            func perPush(_ nanoseconds: UInt64) -> Double { Double(nanoseconds) / Double(options["pushes"]) / 1000 }
            var row = BenchReport.Row()
            row.add("streams", "streams", .count(streams))
            row.add("pushes", nil, .count(options["pushes"]))
            // The sending process as a whole: start, dialling, building the requests, sending.
            row.add("cpuMicroseconds", "µs/push", .decimal(perPush(best.processTime)))
            // Of it, the lane's thread: frames, TLS, system calls, answers.
            row.add("laneCPUMicroseconds", "of it lane", .decimal(perPush(best.laneTime)))
            row.add("pushesPerSecond", "pushes/s", .rate(Double(options["pushes"]) / best.seconds))
            row.add("simulatorCPUMicroseconds", "simulator µs", .decimal(perPush(sinkTime)))
            row.add("h2loadCPUMicroseconds", "h2load µs", .decimal(rival.map { perPush($0.processTime) }))
            row.add("h2loadRequestsPerSecond", "h2load req/s", .rate(rival?.requestsPerSecond))
            // Ours by h2load's; below 1 is cheaper.
            row.add("ratio", "ratio", .decimal(rival.map { Double(best.processTime) / Double($0.processTime) }))
            row.add("allocationsPerPush", "allocations", .decimal(allocations[streams]))
            return row
        }
        return (rows, allocations)
    }

    private func send(_ stage: Stage, streams: Int) throws -> Sender.Result {
        let words = ["send", "\(stage.port)", stage.authorityPath, stage.keyPath, "\(options["pushes"])", "\(streams)"]
        let result = try JSONDecoder().decode(Sender.Result.self, from: Child(options.program, words).result())
        guard result.accepted == options["pushes"], result.connections == 1 else {
            throw BenchError("\(result.accepted) of \(options["pushes"]) accepted on \(result.connections) connections")
        }
        return result
    }
}

/// nghttp2's load generator with requests like ours, as far as it goes: 10,000 paths in turns, one apns-id for all, a body
/// of the same size.
struct H2Load {
    struct Result {
        /// Nanoseconds, of the whole process.
        var processTime: UInt64
        var requestsPerSecond: Double
    }

    private let path: String
    private let arguments: [String]

    /// nil where it is not installed.
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

    func run(requests: Int, streams: Int) throws -> Result {
        let before = ProcessUsage.childrensTime
        let began = ContinuousClock.now
        let child = try Child(path, ["-n", "\(requests)", "-m", "\(streams)"] + arguments)
        let text = String(decoding: try child.result(), as: UTF8.self)
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        // h2load 1.52 drops a few requests that it opened before it knew the server's limit of streams.
        let codes = text.split(separator: "\n").first { $0.hasPrefix("status codes: ") }
        guard let words = codes?.split(separator: " "), words.count > 2, let good = Int(words[2]),
            good >= requests * 99 / 100
        else { throw BenchError("h2load was not answered with 200: \(text)") }
        return Result(processTime: ProcessUsage.childrensTime - before, requestsPerSecond: Double(good) / elapsed)
    }
}
