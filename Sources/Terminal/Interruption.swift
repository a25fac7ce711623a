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
}
