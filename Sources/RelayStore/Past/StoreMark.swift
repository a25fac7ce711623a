// SPDX-License-Identifier: Apache-2.0

/// How far a store is: which one it is, and what has been decided and recorded in it. Of one store it only rises.
package struct StoreMark: Hashable, Sendable {
    /// Random, made with the store; another one since a person took a store on that had gone back.
    package var identity: String
    /// The number of the last decision: one more with each transaction that changes what is required, who is registered by a person's
    /// word, what tokens may, or what becomes of campaigns.
    package var decision: Int64
    /// Of that decision, random: two stores that went apart have other signs at one number.
    package var sign: String
    /// How often outcomes of pushes were recorded.
    package var recorded: Int64

    package init(identity: String, decision: Int64, sign: String, recorded: Int64 = 0) {
        (self.identity, self.decision, self.sign, self.recorded) = (identity, decision, sign, recorded)
    }

    /// As people are shown it.
    package var text: String { "store \(identity.prefix(8)), decision \(decision), record \(recorded)" }
}

/// A store that does not hold what this relay saw in it.
package struct StoreFall: Hashable, Sendable {
    package var seen: StoreMark
    /// What is there; nil: it was not looked at since.
    package var found: StoreMark?

    package init(seen: StoreMark, found: StoreMark?) { (self.seen, self.found) = (seen, found) }

    /// How every text of it begins.
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

/// The word of a person that a store is to be worked on although it went back.
package struct StoreWord: Hashable, Sendable {
    /// As they were shown.
    package var seen, found: StoreMark

    package init(seen: StoreMark, found: StoreMark) { (self.seen, self.found) = (seen, found) }
}

/// A request of who may open the control socket: a person repeats what a store has lost before it is taken on.
package enum OperatorsHand {
    @TaskLocal package static var isAtWork = false
}
