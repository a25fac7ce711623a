// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements

/// Something that receivers are notified of.
package struct RelayEvent: Hashable, Sendable {
    package enum Subject: Hashable, Sendable {
        /// The campaign as it was then.
        case campaign(CampaignRecord)
        /// A part of the relay, as `/readyz` names it, and what is wrong with it.
        case part(String, reason: String)
        /// Devices of an app whose tokens are dead, those alive again left out; and the place of the last one.
        case dead(AppKey, [DeadDevice], through: DeadPlace)
        /// A version that, like all older ones, hardly any device still has; `devices`: how many devices of the app
        /// were seen lately.
        case retirable(AppKey, VersionShares.Row, devices: Int64, retireBelow: Double)
        /// A request for a second person, as it was then.
        case approval(Approval)
    }

    /// 32 random hex digits: the same in every attempt and for every receiver (`webhook-id`).
    package var id: String
    package var type: EventType
    package var at: Timestamp
    package var subject: Subject

    package init(id: String, type: EventType, at: Timestamp, subject: Subject) {
        self.id = id
        self.type = type
        self.at = at
        self.subject = subject
    }

    package var campaign: CampaignRecord? {
        if case .campaign(let campaign) = subject { campaign } else { nil }
    }
}

/// The state of one event's delivery to one receiver.
package struct NotificationRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Not taken yet; tried at `nextAttemptAt`.
        case pending
        /// Answered with 2xx.
        case delivered
        /// The last attempt of the schedule failed.
        case failed
        /// Not tried any more: the receiver answered that it is gone, was taken out of the configuration, or fell
        /// too far behind.
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
    package var app: AppKey
    /// The campaign's public id; nil where it is not about one.
    package var campaign: String?
    package var url: String
    package var state: State
    package var createdAt: Timestamp
    /// nil unless pending.
    package var nextAttemptAt: Timestamp?
    package var attempts: [Attempt]

    package init(
        row: Int64, id: String, type: String, app: AppKey, campaign: String?, url: String, state: State,
        createdAt: Timestamp, nextAttemptAt: Timestamp?, attempts: [Attempt]
    ) {
        self.row = row
        self.id = id
        self.type = type
        self.app = app
        self.campaign = campaign
        self.url = url
        self.state = state
        self.createdAt = createdAt
        self.nextAttemptAt = nextAttemptAt
        self.attempts = attempts
    }
}

/// A receiver, and the events that it is notified of.
package struct NotificationReceiver: Hashable, Sendable {
    package var url: String
    package var events: Set<EventType>

    package init(url: String, events: Set<EventType> = EventType.usual) {
        self.url = url
        self.events = events
    }
}

/// The form of a notification's body.
package enum NotificationFormat: String, Hashable, Sendable, CaseIterable {
    /// `{type, timestamp, data}`, as Standard Webhooks advises.
    case json
    /// `{text}`, as the incoming webhooks of Slack and other chat systems take it.
    case slack
}

/// One notification that is due, with its event.
package struct DueNotification: Hashable, Sendable {
    package var row: Int64
    /// How many attempts were made before.
    package var attempts: Int
    package var event: RelayEvent

    package init(row: Int64, attempts: Int, event: RelayEvent) {
        self.row = row
        self.attempts = attempts
        self.event = event
    }
}

/// The outbox. A campaign's change of state and its event are one transaction, whichever component makes the change.
package protocol NotificationStore: Sendable {
    /// Takes over the configuration's receivers. A new receiver is notified of events from now on; the pending
    /// notifications of a receiver that is no longer configured are dropped. A receiver that answered that it is gone
    /// begins anew once it was taken out of the configuration and put back.
    func adoptReceivers(_ receivers: [NotificationReceiver], at now: Timestamp) throws

    /// Addresses the events since the last call to each receiver that subscribes to them, in the order in which
    /// they happened. Cheap where there are none. Beyond `limit` pending notifications of one receiver the
    /// oldest are dropped.
    func addressEvents(limit: Int, at now: Timestamp) throws

    /// The receiver's notification that is due first: first attempts in the order of their events, then retries by their
    /// time. A time further ahead than any verdict sets counts as due, for the clock was set back. nil also while the
    /// receiver is held or gone.
    func dueNotification(for url: String, at now: Timestamp) throws -> DueNotification?

    /// Notes an event for each campaign that has been waiting since before `time`, once for each wait.
    func noteLongWaits(since time: Timestamp, at now: Timestamp) throws

    /// Notes events of the tokens that died since the last call, at most `limit` tokens in each. Where no receiver
    /// subscribes to them, the tokens are skipped: a receiver that subscribes later is notified only of tokens that die
    /// from then on.
    func noteDeadTokens(limit: Int, at now: Timestamp) throws

    /// Records an attempt and what follows from it, in one transaction.
    func record(
        _ attempt: NotificationRecord.Attempt, of row: Int64, then verdict: NotificationVerdict, at now: Timestamp)
        throws

    /// Newest first, from before `before` (exclusive; nil: from the newest).
    func notifications(
        campaign: String?, state: NotificationRecord.State?, before: Int64?, limit: Int
    ) throws -> [NotificationRecord]

    /// Forgets notifications that ended before `time`, and events that no receiver is waiting for; returns the
    /// number of rows.
    @discardableResult
    func forgetNotifications(before time: Timestamp) throws -> Int64
}
