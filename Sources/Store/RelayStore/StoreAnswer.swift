// SPDX-License-Identifier: Apache-2.0

/// One finding of the check whether a database server suits the relay, which comes before the relay works on it.
package struct StoreAnswer: Hashable, Sendable {
    package enum Weight: Hashable, Sendable {
        /// As it should be.
        case good
        /// The relay works, but some role has, or may do, more than it needs.
        case limited
        /// The relay does not start, or loses what it promises to keep.
        case failed
    }

    package var weight: Weight
    package var text: String
    /// The right setting; nil: nothing needs to be done.
    package var remedy: String?

    package init(_ weight: Weight, _ text: String, remedy: String? = nil) {
        (self.weight, self.text, self.remedy) = (weight, text, remedy)
    }
}
