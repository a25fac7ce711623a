// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Synchronization

/// The real binary, running `serve`.
final class RelayProcess {
    /// Host and port of its API, once it is ready.
    private(set) var address = ""
    private let process = Process()
    private let output: LogReader

    /// Starts it and waits until it is ready.
    convenience init(configuration: String, arguments: [String] = []) throws {
        try self.init(launching: configuration, arguments: arguments)
        try waitUntilReady()
    }

    /// Starts it.
    ///
    /// - Parameter environment: variables in addition to the tests' own.
    init(launching configuration: String, arguments: [String] = [], environment: [String: String] = [:]) throws {
        process.executableURL = try CommandResult.binary()
        process.arguments = ["serve", "--config", configuration] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = FileHandle.nullDevice
        output = LogReader(pipe.fileHandleForReading)
        try process.run()
    }

    func waitUntilReady() throws {
        guard let line = output.line(containing: " ready ", within: .seconds(60) * Patience.factor) else {
            kill()
            throw Unexpected("the daemon did not become ready:\n\(output.text)")
        }
        guard let field = line.split(separator: " ").first(where: { $0.hasPrefix("listen=") }) else {
            throw Unexpected("no address in: \(line)")
        }
        address = String(field.dropFirst("listen=".count))
    }

    var identifier: Int32 { process.processIdentifier }

    var log: String { output.text }

    /// The first log line with `text` in it, as soon as it is written.
    func waitForLine(_ text: String, within deadline: Duration) -> String? {
        output.line(containing: text, within: deadline * Patience.factor)
    }

    /// Whether so many log lines with `text` in them were written in time.
    func waitForLine(_ text: String, times: Int, within deadline: Duration) -> Bool {
        output.line(containing: text, times: times, within: deadline * Patience.factor) != nil
    }

    /// SIGKILL: nothing is flushed, nothing is closed.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// SIGSTOP; returns when all its threads stand still: until then one of them may answer once more. SIGCONT lets it go on.
    func hang() throws {
        send(SIGSTOP)
        var info = siginfo_t()
        // WNOWAIT leaves it to be waited for by the code that ends it.
        while waitid(P_PID, id_t(identifier), &info, WSTOPPED | WNOWAIT) != 0 {
            guard errno == EINTR else { throw Unexpected("the daemon does not stop: error \(errno)") }
        }
    }

    func send(_ signal: Int32) {
        Foundation.kill(process.processIdentifier, signal)
    }

    /// Returns when the log has another line, or `rest` is over.
    func waitForNextLine(atMost rest: Duration) { output.waitForNext(atMost: rest) }

    /// - Returns: the exit status, and whether a signal ended it; by then its whole log has been read.
    func wait() -> (status: Int32, wasKilled: Bool) {
        process.waitUntilExit()
        _ = output.line(containing: LogReader.end, within: .seconds(60))
        return (process.terminationStatus, process.terminationReason == .uncaughtSignal)
    }
}

/// Reads a process's log as it is written.
final class LogReader: Sendable {
    /// The last line, which marks the end of the log.
    static let end = "(end of log) "

    private let lines = Mutex<[String]>([])
    private let news = NSCondition()

    init(_ handle: FileHandle) {
        let thread = Thread { [weak self] in
            var rest = Data()
            while case let data = handle.availableData, !data.isEmpty {
                rest.append(data)
                while let end = rest.firstIndex(of: 10) {
                    self?.add(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            self?.add(Self.end)
        }
        thread.start()
    }

    private func add(_ line: String) {
        lines.withLock { $0.append(line) }
        news.lock()
        news.broadcast()
        news.unlock()
    }

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func waitForNext(atMost rest: Duration) {
        news.lock()
        defer { news.unlock() }
        guard lines.withLock({ $0.last }) != Self.end else { return }
        _ = news.wait(until: Date(timeIntervalSinceNow: rest / .seconds(1)))
    }

    /// The first line with `text` in it, or the n-th; nil when it has not come by the deadline or the log has ended.
    func line(containing text: String, times: Int = 1, within deadline: Duration) -> String? {
        let end = Date(timeIntervalSinceNow: deadline / .seconds(1))
        news.lock()
        defer { news.unlock() }
        while true {
            let (found, isOver) = lines.withLock { lines in
                (lines.lazy.filter { $0.contains(text) }.dropFirst(times - 1).first, lines.last == Self.end)
            }
            if let found { return found }
            if isOver || !news.wait(until: end) { return nil }
        }
    }
}
