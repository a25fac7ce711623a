// SPDX-License-Identifier: Apache-2.0

/// One thing that a database's server says of itself when it is asked whether it suits the relay, before the relay works on it.
package struct StoreAnswer: Hashable, Sendable {
    package enum Weight: Hashable, Sendable {
        /// As it should be.
        case good
        /// The relay works, and somebody has, or may do, more than they need.
        case limited
        /// The relay does not start, or loses what it promises to keep.
        case failed
    }

    package var weight: Weight
    package var text: String
    /// What would be right; nil: nothing is to be done.
    package var remedy: String?

    package init(_ weight: Weight, _ text: String, remedy: String? = nil) {
        (self.weight, self.text, self.remedy) = (weight, text, remedy)
    }
}
