// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// A message from a service to its manager, in the form of sd_notify(3).
package enum ServiceMessage: Sendable, Hashable {
    /// Start-up or a reload is complete.
    case ready
    /// One line for `systemctl status`.
    case status(String)
    /// The configuration is being read again; must be followed by `ready`. The moment is on CLOCK_MONOTONIC: with
    /// `Type=notify-reload` (systemd 253) the manager ignores a moment older than its own signal, and waits for ever for a later one.
    case reloading(at: MonotonicTime)
    case stopping
    /// Asks for this much time from now on, to start or to stop.
    case extendTimeout(Duration)
    /// All is well: the watchdog's keep-alive.
    case watchdog

    package var text: String {
        switch self {
        case .ready: "READY=1"
        case .status(let line): "STATUS=\(Self.oneLine(line))"
        case .reloading(let moment): "RELOADING=1\nMONOTONIC_USEC=\(moment.nanoseconds / 1000)"
        case .stopping: "STOPPING=1"
        case .extendTimeout(let time): "EXTEND_TIMEOUT_USEC=\(max(time.nanoseconds, 0) / 1000)"
        case .watchdog: "WATCHDOG=1"
        }
    }

    /// A line break would begin an assignment of its own.
    private static func oneLine(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
