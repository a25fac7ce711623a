// SPDX-License-Identifier: Apache-2.0
import CLinux
import Foundation

/// What a process has used so far, as Linux accounts it (proc(5)).
struct ProcessFigures {
    /// User and system time, in nanoseconds: /proc/PID/stat has hundredths of a second.
    var processorTime: UInt64
    /// Most memory that was resident at once, in bytes.
    var peakMemory: Int
    /// What it caused to be sent to the storage layer, in bytes.
    var written: Int

    /// - Throws: where the process has ended.
    init(of process: Int32) throws {
        guard let clock = ProcessClock.now(of: process),
            let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let peak = Self.number("VmHWM:", in: status),
            let io = try? String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8),
            let written = Self.number("write_bytes:", in: io)
        else { throw BenchError("process \(process) has ended, or /proc does not tell of it") }
        processorTime = clock
        peakMemory = peak * 1024
        self.written = written
    }

    private static func number(_ name: String, in text: String) -> Int? {
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int($0) }
    }
}

enum ProcessClock {
    /// Of this process since it began, in nanoseconds.
    static func now() -> UInt64 { read(CLOCK_PROCESS_CPUTIME_ID) }

    /// Of another process; nil where there is none.
    static func now(of process: Int32) -> UInt64? {
        var clock: clockid_t = 0
        guard unsafe clock_getcpuclockid(process, &clock) == 0 else { return nil }
        return read(clock)
    }

    /// Of all children that have ended and were waited for.
    static func children() -> UInt64 {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
        return UInt64(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000_000 + UInt64(microseconds) * 1000
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Of this process' threads.
enum ThreadFigures {
    /// User and system time of the thread that is called so, in nanoseconds; nil where there is none.
    static func processorTime(named name: String) -> UInt64? {
        let folder = "/proc/self/task"
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            guard let comm = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8),
                comm.trimmingCharacters(in: .newlines) == name,
                // Time on the CPU, time in the queue, slices (the kernel's sched-stats.rst).
                let figures = try? String(contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8)
            else { continue }
            return figures.split(separator: " ").first.flatMap { UInt64($0) }
        }
        return nil
    }
}
