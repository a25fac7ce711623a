// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Synchronization

/// SIGTERM and SIGINT: the first asks for an orderly stop, the second ends the process at once.
final class StopSignals: Sendable {
    private let first = DispatchSemaphore(value: 0)
    private let count = Atomic<Int>(0)

    init() {
        // A peer that closes its socket is an error of that write, not the end of the process (libcurl, threadsafe(3)).
        _ = signal(SIGPIPE, SIG_IGN)
        let queue = DispatchQueue(label: "signals")
        for number in [SIGTERM, SIGINT] {
            // Dispatch sees the signal only where its default action is off.
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                // The handler holds its source, so that both live as long as the process.
                self.received(Int(source.data), of: number)
            }
            source.activate()
        }
    }

    private func received(_ times: Int, of number: Int32) {
        let seen = count.add(times, ordering: .relaxed).newValue
        if seen > 1 { _exit(128 + number) }
        first.signal()
    }

    /// Blocks until the first signal.
    func wait() {
        first.wait()
    }
}
