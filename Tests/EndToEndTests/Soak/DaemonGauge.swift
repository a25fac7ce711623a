// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization

/// The daemon's resources at one moment, as Linux accounts them (proc(5)).
struct DaemonSample: Sendable {
    /// Requests that the push service had seen.
    var pushes: Int
    var process: Int32
    /// Resident memory that belongs to no file: heap and stacks. Bytes.
    var memory: Int64
    /// Open descriptors that are no sockets.
    var files: Int
    var sockets: Int
    var threads: Int
    /// Bytes of the store's write-ahead log.
    var log: Int64

    /// nil where there is no such process.
    init?(of process: Int32, pushes: Int, store: String) {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
        else { return nil }
        func field(_ name: String) -> Int64? {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap { Int64($0) }
        }
        guard let kilobytes = field("RssAnon:"), let threads = field("Threads:") else { return nil }
        self.pushes = pushes
        self.process = process
        memory = kilobytes * 1024
        // A descriptor that has been closed since has no target.
        let targets = open.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")
        }
        sockets = targets.count { $0.hasPrefix("socket:") }
        files = targets.count - sockets
        self.threads = Int(threads)
        let attributes = try? FileManager.default.attributesOfItem(atPath: store + "-wal")
        log = (attributes?[.size] as? Int64) ?? 0
    }

    init(
        pushes: Int, process: Int32 = 1, memory: Int64 = 0, files: Int = 0, sockets: Int = 0, threads: Int = 0,
        log: Int64 = 0
    ) {
        self.pushes = pushes
        self.process = process
        self.memory = memory
        self.files = files
        self.sockets = sockets
        self.threads = threads
        self.log = log
    }
}

/// Samples the daemon until `stop`.
final class DaemonGauge: Sendable {
    private let process = Mutex<Int32?>(nil)
    private let taken = Mutex<[DaemonSample]>([])
    private let stopped = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - interval: the time from one sample to the next.
    ///   - pushes: the number of requests that the push service has seen.
    init(store: String, every interval: Duration, pushes: @escaping @Sendable () -> Int) {
        Thread { [self] in
            while stopped.wait(timeout: .now() + interval / .seconds(1)) == .timedOut {
                guard let process = process.withLock({ $0 }),
                    let sample = DaemonSample(of: process, pushes: pushes(), store: store)
                else { continue }
                taken.withLock { $0.append(sample) }
            }
            ended.signal()
        }.start()
    }

    func watch(_ process: Int32?) {
        self.process.withLock { $0 = process }
    }

    /// Ends it and returns all samples.
    func stop() -> [DaemonSample] {
        stopped.signal()
        ended.wait()
        return taken.withLock { $0 }
    }
}
