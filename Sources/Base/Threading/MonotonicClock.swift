// SPDX-License-Identifier: Apache-2.0
import Glibc
package import RelayEngine

/// CLOCK_MONOTONIC, the clock of the state machines and of the service manager.
package enum MonotonicClock {
    package static func now() -> MonotonicTime { MonotonicTime(CLOCK_MONOTONIC) }

    package static func milliseconds() -> Int64 { Int64(now().nanoseconds / 1_000_000) }
}

extension MonotonicTime {
    /// Reads a clock that only goes forward.
    init(_ clock: clockid_t) {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        self.init(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }
}
