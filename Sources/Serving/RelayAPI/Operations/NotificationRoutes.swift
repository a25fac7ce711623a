// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
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
            // The whole address of a chat service's webhook lets its reader post there: more than the scope `status` is for.
            for index in items.indices { items[index].url = ShownAddress.origin(items[index].url) }
        }
        return .json { $0.page(items, next: page.next) { $0.notification($1) } }
    }
}

extension JSONWriter {
    fileprivate mutating func notification(_ notification: NotificationRecord) {
        object { writer in
            writer.members([
                .id: notification.id, .type: notification.type, .app: notification.app.app,
                .platform: notification.app.platform.rawValue, .campaign: notification.campaign,
                .url: notification.url, .state: notification.state.rawValue, .createdAt: notification.createdAt,
                .nextAttemptAt: notification.nextAttemptAt,
            ])
            writer.array(.attempts, notification.attempts) { writer, attempt in
                writer.object([
                    .number: attempt.number, .at: attempt.at, .milliseconds: attempt.milliseconds,
                    .status: attempt.status.map { Int64($0) }, .error: attempt.error,
                ])
            }
        }
    }
}
