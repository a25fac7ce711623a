// SPDX-License-Identifier: Apache-2.0
import CLinux
import Foundation

/// The resources that a process has used so far, as Linux accounts them (proc(5)).
struct ProcessUsage {
    /// User and system time, in nanoseconds: /proc/PID/stat has only hundredths of a second.
    var processorTime: UInt64
    /// The peak of resident memory, in bytes.
    var peakMemory: Int
    /// The bytes that it caused to be sent to the storage layer.
    var written: Int

    /// - Throws: if the process has ended.
    init(of process: Int32) throws {
        func number(_ name: String, in file: String) -> Int? {
            let text = try? String(contentsOfFile: "/proc/\(process)/\(file)", encoding: .utf8)
            let line = text?.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int($0) }
        }
        var clock: clockid_t = 0
        guard unsafe clock_getcpuclockid(process, &clock) == 0, let peak = number("VmHWM:", in: "status"),
            let written = number("write_bytes:", in: "io")
        else { throw BenchError("process \(process) has ended, or /proc does not know it") }
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        processorTime = UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        peakMemory = peak * 1024
        self.written = written
    }

    /// The nanoseconds of all children that have ended and were awaited.
    static var childrensTime: UInt64 {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
        return UInt64(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000_000 + UInt64(microseconds) * 1000
    }
}

/// One thread of any process.
struct ThreadUsage {
    var id: Int32
    var name: String
    /// User and system time, in nanoseconds.
    var processorTime: UInt64

    /// Whether it is the daemon's dispatcher, or one of its lanes.
    var isOfFanOut: Bool { name == "fan-out" || name.hasPrefix("lane-") }

    /// All threads of a process, without those that end during the call.
    static func all(of process: Int32) -> [ThreadUsage] {
        let folder = "/proc/\(process)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { entry in
            guard let id = Int32(entry),
                let name = try? String(contentsOfFile: "\(folder)/\(entry)/comm", encoding: .utf8),
                // Time on the CPU, time in the queue, slices (the kernel's sched-stats.rst).
                let figures = try? String(contentsOfFile: "\(folder)/\(entry)/schedstat", encoding: .utf8),
                let time = figures.split(separator: " ").first.flatMap({ UInt64($0) })
            else { return nil }
            return ThreadUsage(id: id, name: name.trimmingCharacters(in: .newlines), processorTime: time)
        }
    }
}
