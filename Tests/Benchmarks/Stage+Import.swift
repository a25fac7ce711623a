// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Stage {
    enum Format: String {
        case ndjson
        case csv

        func line(of number: Int, version: String = "1.0.0") -> String {
            let (token, telephone) = (Sender.token(number), Sender.telephone(number))
            return switch self {
            case .csv: "\(token),\(telephone),\(version)\n"
            case .ndjson: "{\"token\":\"\(token)\",\"telephone\":\"\(telephone)\",\"version\":\"\(version)\"}\n"
            }
        }
    }

    /// Imports devices with the operator's command. The first import begins at 0, so that the number of earlier devices is known.
    /// - Parameters:
    ///   - isNightly: the devices were imported before, and one of a hundred has another version now.
    ///   - writer: writes during the import, and measures each write.
    @discardableResult
    func importDevices(
        _ numbers: Range<Int>, as format: Format = .ndjson, isNightly: Bool = false, beside writer: OtherWriter? = nil
    ) throws -> BenchReport.Row {
        let path = folder.appending(path: "devices.\(format.rawValue)")
        let header = format == .csv ? "token,telephone,version\n" : ""
        try Self.write(numbers, to: path.path, header: header) { number in
            format.line(of: number, version: isNightly && number % 100 == 0 ? "1.0.1" : "1.0.0")
        }
        defer { try? FileManager.default.removeItem(at: path) }
        guard let daemon = daemon?.identifier else { throw BenchError("no daemon runs") }
        let before = try ProcessUsage(of: daemon)
        let serverBefore = try server?.usage(asksFirst: true)
        let commandBefore = ProcessUsage.childrensTime
        var elapsed = 0.0
        func command() throws {
            let began = ContinuousClock.now
            let words = ["devices", "import", path.path, "--app", Sender.topic, "--platform", platform]
            _ = try Child(relay, words + ["--socket", socketPath, "--quiet"]).result()
            elapsed = (ContinuousClock.now - began) / .seconds(1)
        }
        let waits = try writer?.waits(while: command)
        if writer == nil { try command() }
        let after = try ProcessUsage(of: daemon)
        let commandTime = ProcessUsage.childrensTime - commandBefore
        let served = try serverBefore.flatMap { before in try server.map { try $0.usage(asksFirst: false) - before } }
        let rows = Double(numbers.count)
        var row = BenchReport.Row()
        row.add("store", "store", store.rawValue)
        row.add("format", "format", format.rawValue)
        row.add("rows", "rows", numbers.count)
        row.add("registry", "registry before", isNightly ? numbers.upperBound : numbers.lowerBound)
        // From the command's start to its end.
        row.add("rowsPerSecond", "rows/s", rows / elapsed, decimals: 0)
        row.add("cpuMicroseconds", "µs/row", Double(after.processorTime - before.processorTime) / rows / 1000)
        row.add("commandCPUMicroseconds", "command µs", Double(commandTime) / rows / 1000)
        // By the database's server.
        row.add("serverCPUMicroseconds", "server µs", served.map { Double($0.processorTime) / rows / 1000 })
        row.add("serverLogBytesPerRow", "log bytes", served.map { Double($0.log) / rows })
        // By both.
        let written = after.written - before.written + (served?.written ?? 0)
        row.add("writtenBytesPerRow", "bytes written", Double(written) / rows)
        // The daemon's memory since its start.
        row.add("peakMemoryBytes", "peak MiB", bytes: after.peakMemory)
        // Devices that were registered one after another during the import, each with its answer awaited.
        row.add("otherWrites", "other writes", waits?.count)
        row.add("otherMedianMilliseconds", "median ms", waits.map { $0[$0.count / 2] })
        row.add("otherWorstMilliseconds", "worst ms", waits?.last)
        return row
    }

    /// Writes a line for each number into a new file.
    static func write(_ numbers: Range<Int>, to path: String, header: String = "", _ line: (Int) -> String) throws {
        try header.write(toFile: path, atomically: false, encoding: .utf8)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        for first in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 10_000) {
            let lines = (first..<min(first + 10_000, numbers.upperBound)).map(line)
            try file.write(contentsOf: Data(lines.joined().utf8))
        }
        try file.close()
    }
}
