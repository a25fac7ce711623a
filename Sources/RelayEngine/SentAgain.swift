// SPDX-License-Identifier: Apache-2.0

/// How a device comes to be in line once more, when its push had an outcome before. The raw values are stored.
package struct SentAgain: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Not tried since it was put in line: that its push had been tried before says nothing of this time.
    package static let untried = SentAgain(rawValue: 1)
    /// For a reminder: the push service had taken its push, and what does not become of the reminder takes nothing from that.
    package static let reminder = SentAgain(rawValue: 2)

    /// What it is after an attempt.
    ///
    /// - Parameter isTried: a push has left for it.
    package func after(isTried: Bool) -> SentAgain { isTried ? subtracting(.untried) : self }
}
