// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Terminal

/// The real daemon as a child process of the same executable.
///
/// Unchecked: `Process` and `Pipe` may be used from any thread, and what is theirs is only read here after `init`.
final class DaemonProcess: @unchecked Sendable {
    private let process = Process()
    /// Nothing is ever written. It ends with the demo, also by SIGKILL, and with it the daemon.
    private let lifeline = Pipe()

    /// - Parameter log: where its standard error goes.
    init(configuration: String, log: String) throws {
        try PrivateFile.write([], to: log)
        guard let output = FileHandle(forWritingAtPath: log) else {
            throw CommandFailure(.failed, "\(log) cannot be written")
        }
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["serve", "--config", configuration, "--stop-at-eof"]
        // The folder that the demo was called from may be gone, and then nothing can be started there.
        process.currentDirectoryURL = URL(filePath: FileProbe.directory(of: configuration))
        process.standardInput = lifeline
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// Returns when it is gone.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Sends SIGTERM and waits; SIGKILL after the time given. Returns whether it ended in order.
    func stop(within limit: Duration = .seconds(15)) async -> Bool {
        if process.isRunning { process.terminate() }
        let deadline = ContinuousClock.now + limit
        while process.isRunning, ContinuousClock.now < deadline {
            // Also when the task is cancelled: a daemon must not outlive its demo.
            await Task { try? await Task.sleep(for: .milliseconds(20)) }.value
        }
        guard !process.isRunning else {
            kill()
            return false
        }
        return process.terminationReason == .exit && process.terminationStatus == 0
    }
}
