// SPDX-License-Identifier: Apache-2.0
import Glibc
package import RelayEngine

/// CLOCK_REALTIME: for times that are compared with other machines' clocks, and that people read.
package enum WallClock {
    package static func now() -> Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
