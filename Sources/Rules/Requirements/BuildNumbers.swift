// SPDX-License-Identifier: Apache-2.0

/// Android's version codes beside the versions that people read. Gandalf compares the codes (SEEDS S5). Like versions
/// they only rise.
package struct BuildNumbers: Hashable, Sendable {
    /// The code of the newest version; nil when none was given.
    package var latest: Int64?
    /// The code of the oldest version that may still be used; nil when none was given.
    package var required: Int64?

    /// The valid version codes: Gandalf reads them with Java's `Integer`.
    package static let range: ClosedRange<Int64> = 1...Int64(Int32.max)

    package init(latest: Int64? = nil, required: Int64? = nil) {
        self.latest = latest
        self.required = required
    }
}
