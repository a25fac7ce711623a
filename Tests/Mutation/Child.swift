// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// A program that was run to its end.
package struct Child: Sendable {
    /// How it ended.
    package enum End: Hashable, Sendable {
        /// By itself, with this code.
        case exited(Int32)
        /// By a signal, which this process did not send.
        case killed(signal: Int32)
        /// It was ended, for its time was over.
        case tookTooLong
        /// It was ended, for what it had written was enough.
        case wroteEnough
    }

    package let end: End
    /// Both its streams, in their order.
    package let output: String

    /// - Parameters:
    ///   - limit: how long it may take, in seconds; it and what it started are ended then.
    ///   - environment: beside what this process has.
    ///   - log: a file for what it writes.
    ///   - isEnough: asked now and then of what it has written; it is ended where that is enough.
    /// - Throws: also when this process is interrupted: the end of a child that was ended for that is no result.
    package static func run(
        _ words: [String], in folder: URL, limit: Int, environment: [String: String] = [:], log: URL,
        until isEnough: ((String) -> Bool)? = nil
    ) throws -> Child {
        try FileManager.default.createDirectory(at: log.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: log)
        let handle = try FileHandle(forWritingTo: log)
        defer { try? handle.close() }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["timeout", "-k", "5", "\(limit)"] + words
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        (process.standardOutput, process.standardError) = (handle, handle)
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        let begun = ContinuousClock.now
        try Self.withoutBlockedSignals { try process.run() }
        Running.add(process.processIdentifier)
        defer { Running.remove(process.processIdentifier) }
        func output() throws -> String { String(decoding: try Data(contentsOf: log), as: UTF8.self) }
        var hasEnough = false
        while ended.wait(timeout: .now() + .milliseconds(500)) == .timedOut {
            hasEnough = try hasEnough || isEnough?(output()) ?? false
            // timeout(1) passes the signal on.
            if hasEnough { process.terminate() }
        }
        if Running.isEnding { throw MutationError("interrupted") }
        let isLate = ContinuousClock.now - begun >= .seconds(limit)
        return Child(end: hasEnough ? .wroteEnough : end(of: process, isLate: isLate), output: try output())
    }

    /// A child inherits the signals that its parent's thread blocks (sigprocmask(2)). Threads of Dispatch block nearly all of them, and timeout(1)
    /// could not be ended.
    private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
        var (none, before) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    /// A child that ignores TERM is killed 5 s later, and timeout(1) with it: "it may be necessary to use the KILL signal, since this
    /// signal can't be caught, in which case the exit status is 128+9 rather than 124" (coreutils; 128 is added by a shell). A child that
    /// was killed before its time, for want of memory, looks the same but for the time.
    private static func end(of process: Process, isLate: Bool) -> End {
        let status = process.terminationStatus
        return switch process.terminationReason {
        case .uncaughtSignal: status == SIGKILL && isLate ? .tookTooLong : .killed(signal: status)
        default: status == 124 && isLate ? .tookTooLong : .exited(status)
        }
    }

    /// When this process is interrupted, what it runs ends as well: timeout(1) gives each a process group of its own, which no terminal reaches.
    package static func endWithThisProcess() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                Running.end()
                exit(128 + number)
            }
            source.activate()
            Running.keep(source)
        }
    }

    /// All that run now.
    private enum Running {
        private static let lock = NSLock()
        private nonisolated(unsafe) static var identifiers: Set<Int32> = []
        private nonisolated(unsafe) static var sources: [any DispatchSourceSignal] = []
        private nonisolated(unsafe) static var hasEnded = false

        static var isEnding: Bool { lock.withLock { hasEnded } }

        /// One that begins when all are to end is ended, too.
        static func add(_ identifier: Int32) {
            lock.withLock {
                identifiers.insert(identifier)
                if hasEnded { kill(identifier, SIGTERM) }
            }
        }
        static func remove(_ identifier: Int32) { _ = lock.withLock { identifiers.remove(identifier) } }
        static func keep(_ source: any DispatchSourceSignal) { lock.withLock { sources.append(source) } }
        static func end() {
            lock.withLock {
                hasEnded = true
                for identifier in identifiers { kill(identifier, SIGTERM) }
            }
        }
    }
}
