// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// Sends messages to the service manager that started this process; without a manager they go nowhere.
///
/// May be used from any thread. Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` of the process's environment.
package struct ServiceNotifier: Sendable {
    /// How often the manager expects `.watchdog`; nil: never.
    package let watchdogInterval: Duration?

    package init() {
        var microseconds: UInt64 = 0
        // "Returns > 0 if the service manager expects watchdog keep-alive messages" of this very process
        // (sd_watchdog_enabled(3)).
        let isExpected = unsafe sd_watchdog_enabled(0, &microseconds) > 0
        watchdogInterval = isExpected ? .microseconds(Int64(clamping: microseconds)) : nil
    }

    /// Whether there is a service manager to notify.
    package var isThere: Bool { unsafe getenv("NOTIFY_SOCKET") != nil }

    /// Sends the messages in one datagram. If the datagram is lost, the manager falls back on its timeouts.
    package func send(_ messages: ServiceMessage...) {
        _ = unsafe sd_notify(0, messages.map(\.text).joined(separator: "\n"))
    }
}
