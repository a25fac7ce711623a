// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// A program that was run to its end.
package struct Child: Sendable {
    /// 124 or 137 where it was ended because it took too long (timeout(1)).
    package let code: Int32
    /// Both its streams, in their order.
    package let output: String

    package var tookTooLong: Bool { code == 124 || code == 137 }

    /// - Parameters:
    ///   - limit: how long it may take, in seconds; it and what it started are ended then.
    ///   - environment: beside what this process has.
    ///   - log: a file for what it writes.
    ///   - isEnough: asked now and then of what it has written; it is ended where that is enough.
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
        try process.run()
        Running.add(process.processIdentifier)
        defer { Running.remove(process.processIdentifier) }
        func output() throws -> String { String(decoding: try Data(contentsOf: log), as: UTF8.self) }
        while ended.wait(timeout: .now() + .milliseconds(500)) == .timedOut {
            // timeout(1) passes the signal on.
            if let isEnough, isEnough(try output()) { process.terminate() }
        }
        return Child(code: process.terminationStatus, output: try output())
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

        static func add(_ identifier: Int32) { _ = lock.withLock { identifiers.insert(identifier) } }
        static func remove(_ identifier: Int32) { _ = lock.withLock { identifiers.remove(identifier) } }
        static func keep(_ source: any DispatchSourceSignal) { lock.withLock { sources.append(source) } }
        static func end() { for identifier in lock.withLock({ identifiers }) { kill(identifier, SIGTERM) } }
    }
}
