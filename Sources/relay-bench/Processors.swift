// SPDX-License-Identifier: Apache-2.0
import CLinux
import Foundation

/// Which processors run what (sched_setaffinity(2)).
enum Processors {
    /// Those that this process may use, in order; of the first 64.
    static let usable: [Int] = {
        let usable = relay_affinity()
        return (0..<64).filter { usable >> $0 & 1 == 1 }
    }()

    /// - Parameter thread: of any process; 0: the caller.
    static func place(thread: Int32, on processors: [Int]) {
        // A thread that has ended meanwhile needs no place.
        _ = relay_set_affinity(thread, processors.reduce(0) { $0 | 1 << $1 })
    }
}

/// One thread of any process.
struct ThreadOfProcess {
    var id: Int32
    var name: String
    /// User and system time, in nanoseconds.
    var processorTime: UInt64

    /// All threads of a process; one that ends meanwhile is left out.
    static func all(of process: Int32) -> [ThreadOfProcess] {
        let folder = "/proc/\(process)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { entry in
            guard let id = Int32(entry),
                let name = try? String(contentsOfFile: "\(folder)/\(entry)/comm", encoding: .utf8),
                // Time on the CPU, time in the queue, slices (the kernel's sched-stats.rst).
                let figures = try? String(contentsOfFile: "\(folder)/\(entry)/schedstat", encoding: .utf8),
                let time = figures.split(separator: " ").first.flatMap({ UInt64($0) })
            else { return nil }
            return ThreadOfProcess(id: id, name: name.trimmingCharacters(in: .newlines), processorTime: time)
        }
    }

    /// Of the daemon's: whether it belongs to the fan-out, its conductor or a lane.
    var isOfFanOut: Bool { name == "fan-out" || name.hasPrefix("lane-") }
}
