// SPDX-License-Identifier: Apache-2.0

/// Whether one user can get a version from the app's store, as far as evidence settles it. Nothing is guessed: a rollout to a
/// fifth of the users may or may not have come to this one.
package struct StoreOffer: Hashable, Sendable {
    /// The raw values are on the wire.
    package enum Answer: String, Hashable, Sendable, CaseIterable {
        /// The store offers it to this user.
        case yes
        /// The store offers it to no user, or not where this user is, or has stopped its rollout.
        case notYet
        /// It does not run on this user's phone.
        case no
        /// The evidence does not settle it, or there is none.
        case unknown
    }

    package var answer: Answer
    /// For people: the evidence, or why there is none.
    package var why: String
    /// When the store gave its last answer; nil: the evidence is no store's.
    package var askedAt: Timestamp?

    package init(_ answer: Answer, _ why: String, askedAt: Timestamp? = nil) {
        (self.answer, self.why, self.askedAt) = (answer, why, askedAt)
    }

    /// The offer of an app whose store is not asked.
    package static let unasked = StoreOffer(.unknown, "no store is asked for this app")
}
