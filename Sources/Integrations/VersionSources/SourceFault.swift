// SPDX-License-Identifier: Apache-2.0

/// The reason why a source's answer cannot be used. Nothing changes; the fault shows in `readyz` and in the log.
package struct SourceFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The wrong value, and a right one.
    package var reason: String
    /// Whether the source reports that it was asked too often (403, 429) or has no time now (503).
    package var isThrottled: Bool
    /// The pause that the source asks for.
    package var retryAfter: Duration?

    package init(_ reason: String, isThrottled: Bool = false, retryAfter: Duration? = nil) {
        self.reason = reason
        self.isThrottled = isThrottled
        self.retryAfter = retryAfter
    }

    package var description: String { reason }
}
