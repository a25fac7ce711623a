// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Synchronization

/// Lets a fault of one route into the log at once, and then once a minute with the number of those like it: a store that
/// is full fails every login of every app.
final class RepeatedFaults: Sendable {
    static let pause = Duration.seconds(60)

    private struct Kind: Hashable {
        var route: String
        var status: Int
    }

    private let last = Mutex<[Kind: (time: Timestamp, silent: Int)]>([:])

    /// How many like it were suppressed since the last that was logged; nil: suppress this one too.
    func note(_ pattern: String, _ status: Int, at now: Timestamp) -> Int? {
        let kind = Kind(route: pattern, status: status)
        return last.withLock { last in
            guard let before = last[kind] else {
                last[kind] = (now, 0)
                return 0
            }
            // A clock that was set back must not silence anything for long.
            guard now - before.time >= Self.pause || now < before.time else {
                last[kind]?.silent += 1
                return nil
            }
            last[kind] = (now, 0)
            return before.silent
        }
    }
}
