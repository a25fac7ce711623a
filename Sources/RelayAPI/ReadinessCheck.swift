// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Remembers for a moment whether the daemon can do its work.
///
/// The question costs a commit to the disk and anybody may ask it: so it is put at most once in `interval`, however many
/// ask, and by one thread at a time; those who come meanwhile wait for its answer and take it. Any thread may ask.
final class ReadinessCheck: Sendable {
    /// Milliseconds for which an answer holds.
    static let interval: Int64 = 1000

    private let last = Mutex<(faults: [ReadinessFault], asked: Int64)?>(nil)

    /// - Parameters:
    ///   - now: milliseconds of a monotonic clock.
    ///   - look: finds the faults; empty when there are none.
    func faults(at now: () -> Int64, look: () -> [ReadinessFault]) -> [ReadinessFault] {
        last.withLock { last in
            // Read behind the lock: whoever waited for it is served with what was found meanwhile.
            let time = now()
            if let last, time - last.asked < Self.interval { return last.faults }
            let faults = look()
            // From the answer on: a look that takes long must not be followed by the next one at once.
            last = (faults, now())
            return faults
        }
    }
}
