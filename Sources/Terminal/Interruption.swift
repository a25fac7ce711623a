// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation

/// Waits for SIGINT or SIGTERM instead of dying from them.
package enum Interruption {
    /// Returns the first of the two signals that comes, or nil when the task is cancelled. A second signal ends the process as
    /// it does by default.
    package static func wait() async -> CInt? {
        let numbers = [SIGINT, SIGTERM]
        let (stream, continuation) = AsyncStream<CInt>.makeStream()
        let sources = numbers.map { number in
            // A dispatch source only sees signals that are not acted upon (dispatch_source_create(3)).
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            return source
        }
        var received: CInt?
        for await number in stream {
            received = number
            break
        }
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
        return received
    }

    /// Runs `body`; a signal ends the process with 128 and its number, as a shell says it, and after `farewell`: a progress bar's line
    /// is ended, so that the prompt begins a line of its own.
    package static func during<Result>(
        _ body: () async throws -> Result, farewell: @escaping @Sendable () -> Void
    ) async rethrows -> Result {
        let watcher = Task {
            guard let number = await wait() else { return }
            farewell()
            // Not by the signal anew: libdispatch, which may be about to give it back, took one in four for itself.
            exit(128 + number)
        }
        defer { watcher.cancel() }
        return try await body()
    }
}
