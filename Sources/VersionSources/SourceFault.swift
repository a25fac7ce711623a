// SPDX-License-Identifier: Apache-2.0

/// Why an answer of a source cannot be used. Nothing changes; the fault shows in `readyz` and in the log.
package struct SourceFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What it held, and what would be right.
    package var reason: String
    /// The source says that it was asked too often (403, 429) or has no time now (503).
    package var isThrottled: Bool
    /// How long it wants to be left alone.
    package var retryAfter: Duration?

    package init(_ reason: String, isThrottled: Bool = false, retryAfter: Duration? = nil) {
        self.reason = reason
        self.isThrottled = isThrottled
        self.retryAfter = retryAfter
    }

    package var description: String { reason }
}
