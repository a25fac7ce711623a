// SPDX-License-Identifier: Apache-2.0

/// The exit codes of the process. The numbers are fixed: scripts rely on them (etc/STABILITY.md).
package enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    /// The operation failed.
    case failed = 1
    /// Wrong usage: an unknown option, a missing argument.
    case usage = 2
    /// The daemon cannot be reached.
    case unreachable = 3
    /// The configuration is invalid: EX_CONFIG of sysexits.h.
    case configuration = 78

    package var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "the operation failed"
        case .usage: "wrong usage"
        case .unreachable: "the daemon is not reachable"
        case .configuration: "the configuration is invalid"
        }
    }
}
