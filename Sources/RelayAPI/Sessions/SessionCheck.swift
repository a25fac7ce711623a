// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Threading

/// Whether the sessions are still open that streams were opened with: each is looked up once a second, for all of its streams.
final class SessionCheck: Sendable {
    private let known = Mutex<[[UInt8]: (isGood: Bool, at: Int64)]>([:])

    func isGood(_ hash: [UInt8], look: () throws -> Bool) throws -> Bool {
        let now = MonotonicClock.milliseconds()
        if let found = known.withLock({ $0[hash] }), now - found.at < 1000 { return found.isGood }
        let isGood = try look()
        known.withLock { known in
            if known.count > 4096 { known = known.filter { now - $0.value.at < 1000 } }
            known[hash] = (isGood, now)
        }
        return isGood
    }
}
