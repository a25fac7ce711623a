// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a process has used so far, as Linux accounts it (proc(5)).
struct ProcessFigures: Sendable {
    /// User and system time of all its threads.
    var processorTime: Duration
    /// Most memory that was resident at once, in bytes.
    var peakMemory: Int64

    /// nil when there is no such process, or no /proc.
    init?(of process: Int32) {
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let afterName = stat.lastIndex(of: ")")
        else { return nil }
        // The name may hold spaces and parentheses; behind it the third field comes first, utime is the 14th.
        let fields = stat[stat.index(after: afterName)...].split(separator: " ")
        guard fields.count > 12, let user = Int64(fields[11]), let system = Int64(fields[12]) else { return nil }
        processorTime = .milliseconds((user + system) * 1000 / Int64(sysconf(Int32(_SC_CLK_TCK))))
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        guard let kilobytes = peak?.split(separator: " ").dropLast().last.flatMap({ Int64($0) }) else { return nil }
        peakMemory = kilobytes * 1024
    }
}
