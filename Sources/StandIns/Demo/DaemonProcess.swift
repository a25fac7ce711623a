// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import Terminal
import Threading

/// The real daemon as a child process of the same executable. Any thread.
final class DaemonProcess: Sendable {
    private let process: ChildProcess
    /// The writing end of the daemon's input; nothing is ever written. It closes when the demo ends, even by SIGKILL, and that
    /// ends the daemon.
    private let lifeline: CInt

    /// - Parameter log: the file for its standard output and error.
    init(configuration: String, log: String) throws {
        try PrivateFile.write([], to: log)
        let output = unsafe open(log, O_WRONLY | O_CLOEXEC)
        guard output >= 0 else { throw CommandFailure(.failed, "\(log) cannot be written") }
        defer { close(output) }
        let input = try PipeEnds()
        defer { close(input.reading) }
        do {
            // Not started in the folder that the demo was called from: if that is gone, no process can start there.
            process = try ChildProcess(
                Self.program(), ["serve", "--config", configuration, "--stop-at-eof"],
                in: FileProbe.directory(of: configuration),
                ChildProcess.Streams(input: input.reading, output: output, error: output))
        } catch {
            close(input.writing)
            throw error
        }
        lifeline = input.writing
    }

    deinit { close(lifeline) }

    /// The path of this executable, which process lists show.
    private static func program() throws(SystemError) -> String {
        let link = "/proc/self/exe"
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(link, &path, path.count)
        guard count > 0 else { throw SystemError(link, errno: errno) }
        return String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var isRunning: Bool { process.isRunning }

    /// Sends SIGKILL and returns when the process is gone.
    func kill() {
        process.send(SIGKILL)
        process.wait()
    }

    /// Sends SIGTERM and waits; sends SIGKILL after `limit`. Returns whether the daemon ended in order.
    func stop(within limit: Duration = .seconds(15)) async -> Bool {
        process.send(SIGTERM)
        let deadline = ContinuousClock.now + limit
        while process.isRunning, ContinuousClock.now < deadline {
            // Waits even when the task is cancelled: a daemon must not outlive its demo.
            await Task { try? await Task.sleep(for: .milliseconds(20)) }.value
        }
        guard let end = process.end else {
            kill()
            return false
        }
        return end == .exited(0)
    }
}
