// SPDX-License-Identifier: Apache-2.0

/// Why a device is in line once more, though its push had an outcome before. The raw values are stored.
package struct RequeueReasons: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Not tried since it was put in line: earlier attempts do not count for this time.
    package static let untried = RequeueReasons(rawValue: 1)
    /// For a reminder: the push service had taken its push, and a reminder that fails does not change that.
    package static let reminder = RequeueReasons(rawValue: 2)

    /// The value after an attempt.
    ///
    /// - Parameter isTried: whether a push has left for the device.
    package func after(isTried: Bool) -> RequeueReasons { isTried ? subtracting(.untried) : self }
}
