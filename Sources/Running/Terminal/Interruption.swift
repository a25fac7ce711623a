// SPDX-License-Identifier: Apache-2.0
import Glibc
import Threading

/// Waits for SIGINT or SIGTERM instead of dying from them.
package enum Interruption {
    /// Returns the first of the two signals that comes, or nil when the task is cancelled. A second signal ends the process as
    /// it does by default.
    package static func wait() async -> CInt? { await first(of: begin()) }

    private typealias Signals = (stream: AsyncStream<CInt>, watch: SignalWatch?)

    private static func begin() -> Signals {
        let (stream, continuation) = AsyncStream<CInt>.makeStream()
        // Without a thread to watch for them the signals end the process, as they do by default.
        return (stream, try? SignalWatch([SIGINT, SIGTERM]) { continuation.yield($0) })
    }

    private static func first(of signals: Signals) async -> CInt? {
        var received: CInt?
        for await number in signals.stream {
            received = number
            break
        }
        signals.watch?.cancel()
        return received
    }

    /// Runs `body`. A signal calls `farewell`, which may end a progress bar's line so that the prompt begins its own, and then
    /// ends the process with 128 plus its number, as a shell reports it.
    package static func during<Result>(
        _ body: () async throws -> Result, farewell: @escaping @Sendable () -> Void
    ) async rethrows -> Result {
        // Before the body begins: a script may send the signal as soon as the body shows something.
        let signals = begin()
        let watcher = Task {
            guard let number = await first(of: signals) else { return }
            farewell()
            // The body still runs: the handlers of exit(3) would destroy what it uses.
            _exit(128 + number)
        }
        defer { watcher.cancel() }
        return try await body()
    }
}
