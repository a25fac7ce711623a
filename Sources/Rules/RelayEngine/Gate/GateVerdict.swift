// SPDX-License-Identifier: Apache-2.0

/// A gate's verdict on one version: whether users may be notified that they must have it.
package struct GateVerdict: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// The store does not offer it, or not to enough users.
        case closed
        /// The store offers it; the wait ends at `until`.
        case held(until: Timestamp)
        case open
        /// The store offered it and has stopped: users who lack it cannot get it any more.
        case halted
    }

    package var state: State
    /// Why, for people: "waiting until the App Store offers 2.0.0; it shows 1.9.0, last asked at …".
    package var reason: String

    package init(_ state: State, _ reason: String) {
        self.state = state
        self.reason = reason
    }

    package var isOpen: Bool { state == .open }

    /// When the gate opens by time alone; nil where it does not.
    package var opensAt: Timestamp? {
        if case .held(let until) = state { until } else { nil }
    }
}
