// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A `BelievedClock` that several threads may read.
package final class BelievedTime: Sendable {
    private let clock: @Sendable () -> Moment
    private let believed = Mutex(BelievedClock())

    package init(_ clock: @escaping @Sendable () -> Moment) {
        self.clock = clock
    }

    /// The wall clock as it is set at this moment, believed or not.
    package func shown() -> Timestamp { clock().wall }

    package var now: Moment {
        let moment = clock()
        return believed.withLock { $0.read(moment) }
    }
}
