// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// A campaign at the moment when its state changed: what receivers are notified of.
package struct CampaignEvent: Hashable, Sendable {
    /// 32 random hex digits: the same in every attempt and for every receiver (`webhook-id`).
    package var id: String
    package var at: Timestamp
    /// The campaign as it was then.
    package var campaign: CampaignRecord

    package init(id: String, at: Timestamp, campaign: CampaignRecord) {
        self.id = id
        self.at = at
        self.campaign = campaign
    }

    /// "campaign.running"
    package var type: String { Self.type(of: campaign.state) }

    package static func type(of state: CampaignState) -> String { "campaign.\(state.rawValue)" }
}

/// Where one event stands with one receiver.
package struct NotificationRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Not taken yet; tried at `nextAttemptAt`.
        case pending
        /// Answered with 2xx.
        case delivered
        /// The last attempt of the schedule failed.
        case failed
        /// Not tried any more: the receiver said that it is gone, was taken out of the configuration, or fell too far behind.
        case dropped
    }

    /// One attempt and its answer.
    package struct Attempt: Hashable, Sendable {
        /// From 1.
        package var number: Int
        package var at: Timestamp
        package var milliseconds: Int64
        /// The HTTP status; nil where there was no answer.
        package var status: Int?
        /// Why it does not count as delivered; nil where it does.
        package var error: String?

        package init(number: Int, at: Timestamp, milliseconds: Int64, status: Int?, error: String?) {
            self.number = number
            self.at = at
            self.milliseconds = milliseconds
            self.status = status
            self.error = error
        }
    }

    package var row: Int64
    /// The event's id.
    package var id: String
    package var type: String
    /// The campaign's public id.
    package var campaign: String
    package var url: String
    package var state: State
    package var createdAt: Timestamp
    /// nil unless pending.
    package var nextAttemptAt: Timestamp?
    package var attempts: [Attempt]

    package init(
        row: Int64, id: String, type: String, campaign: String, url: String, state: State, createdAt: Timestamp,
        nextAttemptAt: Timestamp?, attempts: [Attempt]
    ) {
        self.row = row
        self.id = id
        self.type = type
        self.campaign = campaign
        self.url = url
        self.state = state
        self.createdAt = createdAt
        self.nextAttemptAt = nextAttemptAt
        self.attempts = attempts
    }
}

/// Who is notified, and of what.
package struct NotificationReceiver: Hashable, Sendable {
    package var url: String
    package var states: Set<CampaignState>

    package init(url: String, states: Set<CampaignState> = Set(CampaignState.allCases)) {
        self.url = url
        self.states = states
    }
}

/// One notification that is due, with what is to be sent.
package struct DueNotification: Hashable, Sendable {
    package var row: Int64
    /// How many attempts were made before.
    package var attempts: Int
    package var event: CampaignEvent

    package init(row: Int64, attempts: Int, event: CampaignEvent) {
        self.row = row
        self.attempts = attempts
        self.event = event
    }
}

/// The outbox. A campaign's change of state and its event are one transaction, whoever changes it.
package protocol NotificationStore: Sendable {
    /// Takes the configuration's receivers over: a new one is notified of what happens from now on, and of one that is not there any
    /// more everything pending is dropped. One that said that it is gone and comes back after a time without it begins anew.
    func adoptReceivers(_ receivers: [NotificationReceiver], at now: Timestamp) throws

    /// Addresses what has happened since the last time to each receiver that wants it, in the order in which it happened.
    /// Cheap where nothing has. Beyond `limit` pending notifications of one receiver the oldest are dropped.
    func addressEvents(limit: Int, at now: Timestamp) throws

    /// The receiver's notification that is due first: by its time, then by its event. nil also while the receiver is held or
    /// gone.
    func dueNotification(for url: String, at now: Timestamp) throws -> DueNotification?

    /// Records an attempt and what follows from it, in one transaction.
    func record(
        _ attempt: NotificationRecord.Attempt, of row: Int64, then verdict: NotificationVerdict, at now: Timestamp)
        throws

    /// Newest first, from before `before` (exclusive; nil: from the newest).
    func notifications(
        campaign: String?, state: NotificationRecord.State?, before: Int64?, limit: Int
    ) throws -> [NotificationRecord]

    /// Forgets notifications that ended before `time`, and events that nobody is to be notified of any more; returns how many
    /// rows.
    @discardableResult
    func forgetNotifications(before time: Timestamp) throws -> Int64
}
