// SPDX-License-Identifier: Apache-2.0
import Glibc
package import RelayEngine

/// CLOCK_BOOTTIME: "identical to CLOCK_MONOTONIC, except that it also includes any time that the system is suspended"
/// (clock_gettime(2)). For what others count, too, while this machine sleeps.
package enum BootClock {
    package static func now() -> MonotonicTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }
}
