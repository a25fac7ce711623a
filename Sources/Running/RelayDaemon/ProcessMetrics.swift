// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Telemetry
import Threading

/// The figures that Linux keeps of this process (proc(5)), under the usual names of Prometheus clients.
enum ProcessMetrics {
    static func write(to text: inout MetricsText) {
        let fields = statFields()
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        // Counted from the field after the name, which is the third: utime is the 14th, stime the 15th, starttime the 22nd,
        // vsize the 23rd, rss the 24th.
        text.write(.cpu, value(fields, 11).flatMap { user in value(fields, 12).map { (user + $0) / ticks } })
        text.write(.residentMemory, value(fields, 21).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) })
        text.write(.virtualMemory, value(fields, 20))
        let open = try? Folder.names("/proc/self/fd").count
        text.write(.openDescriptors, open.map(Double.init))
        var limit = rlimit()
        let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        text.write(.maximumDescriptors, isKnown ? Double(limit.rlim_cur) : nil)
        let start = value(fields, 19).flatMap { started in bootTime.map { $0 + started / ticks } }
        text.write(.startTime, start)
    }

    /// Seconds since 1970.
    private static let bootTime: Double? = {
        let line = text("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) }
    }()

    private static func statFields() -> [Substring] {
        guard let stat = text("/proc/self/stat"), let afterName = stat.lastIndex(of: ")")
        else { return [] }
        return stat[stat.index(after: afterName)...].split(separator: " ")
    }

    /// Large enough for /proc/stat, which has a line for each processor, and a number for each interrupt.
    private static func text(_ path: String) -> String? {
        (try? WholeFile.read(path, limit: 16 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func value(_ fields: [Substring], _ index: Int) -> Double? {
        index < fields.count ? Double(fields[index]) : nil
    }
}
