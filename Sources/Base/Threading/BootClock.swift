// SPDX-License-Identifier: Apache-2.0
import Glibc
package import RelayEngine

/// CLOCK_BOOTTIME: "identical to CLOCK_MONOTONIC, except that it also includes any time that the system is suspended"
/// (clock_gettime(2)). For intervals that other machines also measure while this one is suspended.
package enum BootClock {
    package static func now() -> MonotonicTime { MonotonicTime(CLOCK_BOOTTIME) }
}
