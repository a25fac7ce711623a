// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Requirements
import UpgradeRules
import VersionSources
import WireFormat

extension API {
    func notifications(_ query: inout Query, _ call: Call) throws -> Response {
        let limit = query.limit(default: 50)
        let cursor = query.cursor(.notifications)
        let campaign = query.filledText("campaign")
        let state = query.choice("state", of: NotificationRecord.State.allCases, \.rawValue)
        try query.finish()
        let page = try Page(
            limit: limit, after: cursor, position: \.row, cursor: { Cursor.text(.notifications, $0) },
            isVisible: { call.caller.maySee($0.app) }
        ) { try store.notifications(campaign: campaign, state: state, before: $0, limit: $1) }
        var items = page.items
        if call.head.door != .control {
            // The whole address of a chat service's webhook lets its reader post there: more than the scope `status` allows.
            for index in items.indices { items[index].url = ShownAddress.origin(items[index].url) }
        }
        return .json { $0.page(items, next: page.next) { $0.object($1, NotificationRecord.shape) } }
    }
}

extension NotificationRecord {
    static let shape = Shape<NotificationRecord>(
        "Notification", "One event for one receiver.",
        [
            .member(.id, .text, "The event's id: webhook-id, the same in every attempt.") { $0.id },
            .member(.type, .text, "The event's type: campaign. and the state, or another one.") { $0.type },
            .member(.app, .text, "The event's app.") { $0.app.app },
            .member(.platform, .words(Platform.self)) { $0.app.platform.rawValue },
            .nullable(.campaign, .text, "The campaign's id; null: the event is about none.") { $0.campaign },
            .member(
                .url, .text,
                "The receiver's URL. API tokens get its scheme, host and port alone: the rest may be a secret, and is shown on the control socket."
            ) { $0.url },
            .member(
                .state, .words(NotificationRecord.State.self),
                "dropped: the receiver answered 410, was removed, or fell too far behind."
            ) { $0.state.rawValue },
            .member(.createdAt, .instant) { $0.createdAt },
            .nullable(.nextAttemptAt, .instant, "If it is pending.") { $0.nextAttemptAt },
            .list(.attempts, of: NotificationRecord.Attempt.shape) { $0.attempts },
        ])
}

extension NotificationRecord.Attempt {
    static let shape = Shape<Self>(
        "NotificationAttempt", "One attempt and its answer.",
        [
            .member(.number, .count, "From 1.") { $0.number },
            .member(.at, .instant) { $0.at },
            .member(.milliseconds, .count, "The time until the answer.") { $0.milliseconds },
            .nullable(.status, .count, "HTTP's; null: no answer.") { $0.status.map { Int64($0) } },
            .nullable(.error, .text, "Null: it was accepted.") { $0.error },
        ])
}
