// SPDX-License-Identifier: Apache-2.0

/// Whether a daemon's resources stay flat while it works. Pure.
///
/// The first half of a run fills caches: SQLite's pages, the allocator's arenas, buffers of the largest batch. In the second
/// half nothing may grow with the pushes any more:
///
/// - Memory: least squares over the second half give at most 8 MiB in a million pushes. That is a quarter of the loss if every
///   push lost the C library's smallest block, 32 bytes. A run of less than 400,000 pushes is too short for a slope and may grow by
///   24 MiB from the second quarter to the last. Never 40 MiB above the median of the second quarter.
/// - Descriptors of files, timers and the like: the median of the last quarter is at most 12 above that of the second.
/// - Sockets: never above 80: 16 connections to the push service, each with the pair by which libcurl is woken, and 32 for
///   clients. The push service's behaviour decides how many of them are open.
/// - Threads: the median of the last quarter is at most 12 above that of the second.
/// - Log: never above 128 MiB.
struct Flatness {
    static let slopeLimit = 8.0
    static let shortestForSlope = 400_000
    static let stepLimit: Int64 = 24 << 20
    static let peakLimit: Int64 = 40 << 20
    static let countLimit = 12
    static let socketLimit = 16 * 3 + 32
    static let logLimit: Int64 = 128 << 20

    let samples: [DaemonSample]
    /// MiB in a million pushes, over the second half.
    let slope: Double
    private let quarters: [[DaemonSample]]

    /// - Parameter samples: of one process, in the order in which they were taken.
    init(_ samples: [DaemonSample]) {
        self.samples = samples
        quarters = (0..<4).map { quarter in
            Array(samples[samples.count * quarter / 4..<samples.count * (quarter + 1) / 4])
        }
        slope = Self.slope(quarters[2] + quarters[3])
    }

    private static func slope(_ samples: [DaemonSample]) -> Double {
        guard samples.count > 1 else { return 0 }
        let count = Double(samples.count)
        let points = samples.map { (x: Double($0.pushes) / 1e6, y: Double($0.memory) / Double(1 << 20)) }
        let meanX = points.reduce(0) { $0 + $1.x } / count
        let meanY = points.reduce(0) { $0 + $1.y } / count
        let spread = points.reduce(0) { $0 + ($1.x - meanX) * ($1.x - meanX) }
        guard spread > 0 else { return 0 }
        return points.reduce(0) { $0 + ($1.x - meanX) * ($1.y - meanY) } / spread
    }

    static func median(_ values: [Int]) -> Int {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    /// The median of the samples of each quarter of the run.
    func medians(_ value: (DaemonSample) -> Int) -> [Int] {
        quarters.map { Self.median($0.map(value)) }
    }

    /// One line for each resource that is not flat.
    var faults: [String] {
        guard samples.count >= 8 else { return ["\(samples.count) samples are too few to judge by"] }
        var faults: [String] = []
        let memory = medians { Int($0.memory) }
        if (samples.last?.pushes ?? 0) >= Self.shortestForSlope {
            if slope > Self.slopeLimit {
                faults.append("memory grows by \(slope.rounded()) MiB in a million pushes; limit \(Self.slopeLimit)")
            }
        } else if Int64(memory[3] - memory[1]) > Self.stepLimit {
            faults.append("memory grew from \(memory[1] >> 20) to \(memory[3] >> 20) MiB in the second half")
        }
        let peak = samples.lazy.map(\.memory).max() ?? 0
        if peak - Int64(memory[1]) > Self.peakLimit {
            faults.append("memory rose to \(peak >> 20) MiB, from \(memory[1] >> 20) in the second quarter")
        }
        for (name, values) in [
            ("descriptors without sockets", medians(\.files)), ("threads", medians(\.threads)),
        ] where values[3] > values[1] + Self.countLimit {
            faults.append("\(name) grew from \(values[1]) to \(values[3]) in the second half")
        }
        let sockets = samples.lazy.map(\.sockets).max() ?? 0
        if sockets > Self.socketLimit { faults.append("\(sockets) sockets were open; limit \(Self.socketLimit)") }
        let log = samples.lazy.map(\.log).max() ?? 0
        if log > Self.logLimit { faults.append("the write-ahead log had \(log >> 20) MiB") }
        return faults
    }

    /// For people: a line for each measure, by quarter.
    var text: String {
        func line(_ name: String, _ values: [Int], _ peak: Int) -> String {
            "  \(name.padded(24))" + values.map { String($0).padded(8, right: true) }.joined()
                + String(peak).padded(8, right: true)
        }
        let memory = medians { Int($0.memory >> 10) }.map { $0 / 1024 }
        let header =
            "  \("the daemon".padded(24))"
            + ["1st", "2nd", "3rd", "4th", "peak"].map { $0.padded(8, right: true) }.joined() + "  (medians by quarter)"
        return [
            header,
            line("memory, MiB", memory, Int((samples.lazy.map(\.memory).max() ?? 0) >> 20)),
            line("descriptors, no sockets", medians(\.files), samples.lazy.map(\.files).max() ?? 0),
            line("sockets", medians(\.sockets), samples.lazy.map(\.sockets).max() ?? 0),
            line("threads", medians(\.threads), samples.lazy.map(\.threads).max() ?? 0),
            line(
                "write-ahead log, MiB", medians { Int($0.log >> 20) }, Int((samples.lazy.map(\.log).max() ?? 0) >> 20)),
            "  memory's slope over the second half: \((slope * 10).rounded() / 10) MiB in a million pushes",
        ].joined(separator: "\n")
    }
}

extension String {
    func padded(_ width: Int, right: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - count))
        return right ? space + self : self + space
    }
}
