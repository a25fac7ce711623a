// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Remembers for a moment what `/metrics` answers.
///
/// Anybody may ask: so it is rendered at most once in `interval`, however many ask, and by one thread at a time; those who
/// come meanwhile wait for it and take it. Any thread may ask.
final class MetricsPage: Sendable {
    /// Milliseconds for which an answer holds. Prometheus asks each fifteen seconds or so.
    static let interval: Int64 = 1000

    private let last = Mutex<(bytes: SharedBytes, made: Int64)?>(nil)

    /// - Parameter now: milliseconds of a monotonic clock.
    func bytes(at now: () -> Int64, render: () -> SharedBytes) -> SharedBytes {
        last.withLock { last in
            // Read behind the lock: whoever waited for it is served with what was made meanwhile.
            let time = now()
            if let last, time - last.made < Self.interval { return last.bytes }
            let bytes = render()
            last = (bytes, now())
            return bytes
        }
    }
}
