// SPDX-License-Identifier: Apache-2.0

/// How far a store is: its identity, and the decisions and outcomes recorded in it. Within one store it only rises.
package struct StoreMark: Hashable, Sendable {
    /// Random, made with the store; replaced when a person accepts a store that had gone back.
    package var identity: String
    /// The number of the last decision: one more with each transaction that changes requirements, registrations by a
    /// person's act, the rights of tokens, or the state of campaigns.
    package var decision: Int64
    /// The sign of that decision, random: two stores that diverged have different signs at the same number.
    package var sign: String
    /// The number of times that outcomes of pushes were recorded.
    package var recorded: Int64

    package init(identity: String, decision: Int64, sign: String, recorded: Int64 = 0) {
        (self.identity, self.decision, self.sign, self.recorded) = (identity, decision, sign, recorded)
    }

    /// The mark as people are shown it.
    package var text: String { "store \(identity.prefix(8)), decision \(decision), record \(recorded)" }
}

/// A store that does not hold what this relay saw in it.
package struct StoreRollback: Hashable, Sendable {
    package var seen: StoreMark
    /// The mark that the store has now; nil: it was not read.
    package var found: StoreMark?

    package init(seen: StoreMark, found: StoreMark?) { (self.seen, self.found) = (seen, found) }

    /// The beginning of every text about a rollback.
    package static let opening = "the store went back in time"

    package var error: StoreError {
        StoreError(
            .wentBack,
            context:
                "\(Self.opening): this relay saw \(seen.text)"
                + (found.map { ", and it holds \($0.text)" } ?? ""),
            hint:
                "Nothing is sent and nothing is decided. Put the newest store back; or repeat over the control socket what was lost, "
                + "and run \"upgrade-relay store accept\"")
    }
}

/// A person's order to work on a store although it went back.
package struct StoreWord: Hashable, Sendable {
    /// The marks that the person was shown.
    package var seen, found: StoreMark

    package init(seen: StoreMark, found: StoreMark) { (self.seen, self.found) = (seen, found) }
}

/// Marks a request of a user who may open the control socket. Such a request may write to a store that went back, so
/// that a person can repeat what was lost before accepting the store.
package enum OperatorHeader {
    @TaskLocal package static var isAtWork = false
}
