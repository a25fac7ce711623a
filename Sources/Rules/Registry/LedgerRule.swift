// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Decides how a campaign's ledger keeps the outcome of a push. Pure.
///
/// A store reads the ledger's entries of a batch's devices, calls `judge` once a device, writes, and counts.
package struct LedgerRule: Sendable {
    /// nil while the campaign goes on; after its end, the state of pushes that were still waiting for a retry.
    private let ended: DeliveryState?

    package init(ended: DeliveryState?) {
        self.ended = ended
    }

    /// An outcome from the fan-out.
    package struct Outcome: Sendable {
        package var state: DeliveryState
        /// Attempts made in all, this one included.
        package var attempts: UInt16
        package var reason: String?
        /// Whether there is a next attempt.
        package var isScheduled: Bool

        package init(_ state: DeliveryState, attempts: UInt16, reason: String? = nil, isScheduled: Bool = false) {
            (self.state, self.attempts, self.reason, self.isScheduled) = (state, attempts, reason, isScheduled)
        }
    }

    package enum Verdict: Hashable, Sendable {
        /// It goes into a packed batch.
        case packed(PlainOutcome)
        /// It has a row of its own.
        case row(Row)
        /// A reminder that did not take place: for example its device has upgraded since, or the time was over. The earlier
        /// push stays accepted.
        case givenBack
    }

    /// A device's row of the ledger after an outcome.
    package struct Row: Hashable, Sendable {
        package var state: DeliveryState
        /// Whether the row names the time of a next attempt.
        package var isScheduled = false
        package var again: RequeueReasons = []

        package init(_ state: DeliveryState, isScheduled: Bool = false, again: RequeueReasons = []) {
            (self.state, self.isScheduled, self.again) = (state, isScheduled, again)
        }

        /// Whether the row goes on naming its user, even if the device now belongs to another user: a reminder uses the row
        /// of an accepted push until the reminder itself is accepted.
        package var keepsUser: Bool { again.contains(.reminder) }
    }

    /// Whether the outcomes of a shard's batch may be packed: only where the shard's cursor passes all of them, because the
    /// list of devices without an outcome begins after the cursors.
    ///
    /// - Parameters:
    ///   - packs: whether the shard packs; nil: the batch is one of retries.
    ///   - last: the last device of the batch.
    package static func packs(_ packs: Bool?, cursor: Int64, isDone: Bool, last: Int64?) -> Bool {
        packs == true && (isDone || last.map { $0 <= cursor } ?? false)
    }

    /// - Parameters:
    ///   - recorded: the device's row or place in a batch before this commit.
    ///   - packs: whether the batch's outcomes may be packed.
    package func judge(_ outcome: Outcome, over recorded: RecordedOutcome?, packs: Bool) -> Verdict {
        if let recorded {
            if recorded.again.contains(.reminder), takesNothing(outcome.state) { return .givenBack }
        } else if packs, let plain = PlainOutcome(outcome) {
            return .packed(plain)
        }
        guard outcome.state == .retrying else {
            return .row(Row(outcome.state, isScheduled: outcome.isScheduled))
        }
        // Sent and failed for now, but its campaign is over: it is not tried again.
        if ended == .expired { return .row(Row(.expired)) }
        let again = recorded.map { $0.again.after(isTried: Int64(outcome.attempts) > $0.attempts) }
        return .row(Row(.retrying, isScheduled: outcome.isScheduled, again: again ?? []))
    }

    /// Whether a reminder with this outcome leaves the earlier push accepted.
    private func takesNothing(_ state: DeliveryState) -> Bool {
        switch state {
        case .filtered, .expired, .cancelled: true
        case .retrying: ended != nil
        case .pending, .inFlight, .accepted, .rejected, .unregistered: false
        }
    }
}

/// The ledger's entry of a device before a commit.
package struct RecordedOutcome: Sendable {
    package let state: DeliveryState
    package let reason: String?
    package let attempts: Int64
    package let again: RequeueReasons

    package init(state: DeliveryState?, reason: String?, attempts: Int64, again: Int64) {
        (self.state, self.reason, self.attempts) = (state ?? .cancelled, reason, attempts)
        self.again = RequeueReasons(rawValue: UInt8(truncatingIfNeeded: again))
    }
}
