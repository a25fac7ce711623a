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
    static func check(_ rows: [BenchReport.Transport]) throws {
        for row in rows where row.streams >= manyStreams {
            guard let allocations = row.allocationsPerPush, allocations >= allocationBound else { continue }
            throw BenchError(
                "the lane asked for memory \(BenchReport.text(allocations)) times per push with \(row.streams) streams; "
                    + "it should be below \(allocationBound)")
        }
    }

    func run() throws -> [BenchReport.Transport] {
        let stage = try Stage(relay: options.relay)
        defer { stage.tearDown() }
        let h2load = try H2Load(stage: stage)
        return try options.streams.map { streams in
            var ours: [Sender.Result] = []
            var theirs: [H2Load.Result] = []
            var sinkCPU: [Double] = []
            for _ in 0..<options.runs {
                let before = try ProcessFigures(of: stage.sink.identifier)
                ours.append(try send(stage, streams: streams))
                let after = try ProcessFigures(of: stage.sink.identifier)
                sinkCPU.append(Double(after.processorTime - before.processorTime) / Double(options.pushes) / 1000)
                if let h2load { theirs.append(try h2load.run(requests: options.pushes, streams: streams)) }
            }
            // The run that was disturbed least.
            guard let best = ours.min(by: { $0.processCPU < $1.processCPU }) else { throw BenchError("no runs") }
            let rival = theirs.min { $0.cpu < $1.cpu }
            let cpu = Double(best.processCPU) / Double(options.pushes) / 1000
            let rivalCPU = rival.map { Double($0.cpu) / Double(options.pushes) / 1000 }
            return BenchReport.Transport(
                streams: streams, pushes: options.pushes, cpuMicroseconds: cpu,
                laneCPUMicroseconds: Double(best.laneCPU) / Double(options.pushes) / 1000,
                pushesPerSecond: Double(options.pushes) / (Double(best.elapsed) / 1e9),
                simulatorCPUMicroseconds: sinkCPU.min() ?? 0, h2loadCPUMicroseconds: rivalCPU,
                h2loadRequestsPerSecond: rival?.requestsPerSecond, ratio: rivalCPU.map { cpu / $0 },
                allocationsPerPush: ours.compactMap(\.allocations).max())
        }
    }

    private func send(_ stage: Stage, streams: Int) throws -> Sender.Result {
        let child = try Child(
            options.program,
            ["send", "\(stage.port)", stage.authorityPath, stage.keyPath, "\(options.pushes)", "\(streams)"])
        let result = try JSONDecoder().decode(Sender.Result.self, from: child.result())
        guard result.accepted == options.pushes, result.connections == 1 else {
            throw BenchError("\(result.accepted) of \(options.pushes) accepted on \(result.connections) connections")
        }
        return result
    }
}

/// nghttp2's load generator with requests like ours, as far as it goes: 10,000 paths in turns, one apns-id for all, a body
/// of the same size.
struct H2Load {
    struct Result {
        /// Nanoseconds, of the whole process.
        var cpu: UInt64
        var requestsPerSecond: Double
    }

    private let path: String
    private let arguments: [String]

    /// nil where it is not installed.
    init?(stage: Stage) throws {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        guard let folder = folders.first(where: { FileManager.default.isExecutableFile(atPath: "\($0)/h2load") })
        else { return nil }
        path = "\(folder)/h2load"
        var addresses = ""
        for number in 0..<10_000 {
            var device: [UInt8] = []
            Sender.appendDevice(number, to: &device)
            let token = String(decoding: device.prefix(Sender.tokenLength), as: UTF8.self)
            addresses += "https://127.0.0.1:\(stage.port)/3/device/\(token)\n"
        }
        let addressPath = stage.folder.appending(path: "h2load-addresses").path
        let bodyPath = stage.folder.appending(path: "h2load-body").path
        try addresses.write(toFile: addressPath, atomically: false, encoding: .utf8)
        try Data(Sender.sampleBody).write(to: URL(fileURLWithPath: bodyPath))
        let fields = try Sender.sampleFields(key: stage.key).flatMap { ["-H", "\($0.name): \($0.value)"] }
        arguments = ["-c", "1", "-t", "1", "-i", addressPath, "-d", bodyPath, "-H", ":method: POST"] + fields
    }

    func run(requests: Int, streams: Int) throws -> Result {
        let before = ProcessClock.children()
        let began = ContinuousClock.now
        let child = try Child(path, ["-n", "\(requests)", "-m", "\(streams)"] + arguments)
        let text = String(decoding: try child.result(), as: UTF8.self)
        let elapsed = (ContinuousClock.now - began) / .seconds(1)
        // h2load 1.52 drops a few requests that it opened before it knew the server's limit of streams.
        let codes = text.split(separator: "\n").first { $0.hasPrefix("status codes: ") }
        guard let words = codes?.split(separator: " "), words.count > 2, let good = Int(words[2]),
            good >= requests * 99 / 100
        else { throw BenchError("h2load was not answered with 200: \(text)") }
        return Result(cpu: ProcessClock.children() - before, requestsPerSecond: Double(good) / elapsed)
    }
}
