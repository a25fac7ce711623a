// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
package import RelayStore
import UpgradeRules
import WireFormat

/// The audit trail: acts and their actors.
extension API {
    static let auditParameters = [
        "app", "platform", "actor", "action", "campaign", "since", "limit", "cursor", "format",
    ]

    func audit(_ call: inout Call) throws -> Response {
        let filter = Self.auditFilter(&call.query, call.caller)
        let form = call.query.form(call.head.headers["accept"], among: [.json, .csv, .ndjson])
        if form.isStream {
            call.query.wholeList()
            try call.query.finish()
            let export = ListExport(
                form, LineFormat<AuditEntry>.audit, for: call.sight, stop: stop,
                read: { [store] last, limit in
                    let found = try store.audit(filter, before: last?.id, limit: limit)
                    return (found, isLast: found.count < limit)
                })
            return export.response
        }
        let limit = call.query.limit(default: 50)
        let cursor = call.query.cursor(.audit)
        try call.query.finish()
        let page = try Page(
            limit: limit, after: cursor, position: \.id, cursor: { Cursor.text(.audit, $0) }, isVisible: { _ in true }
        ) { try store.audit(filter, before: $0, limit: $1) }
        return .json { $0.page(page.items, next: page.next) { $0.audit($1) } }
    }

    package static func auditFilter(_ query: inout Query, _ caller: Caller) -> AuditFilter {
        var filter = AuditFilter()
        filter.app = query.filledText("app")
        filter.platform = query.choice("platform", of: Platform.allCases, \.rawValue)
        filter.actor = query.filledText("actor")
        filter.action = query.choice("action", of: AuditAction.allCases, \.rawValue)
        filter.campaign = query.filledText("campaign")
        if let text = query.filledText("since") {
            filter.since = Timestamp(internetTime: text)
            if filter.since == nil {
                query.refuse(
                    "since",
                    "a time as in RFC 3339 is needed, such as \"2026-01-31T18:00:00Z\"; got \(JSONValue.string(text).sight)"
                )
            }
        }
        filter.apps = caller.apps
        return filter
    }
}

extension JSONWriter {
    fileprivate mutating func audit(_ entry: AuditEntry) {
        object { writer in
            writer.members([
                .at: entry.at, .actor: entry.actor.name, .actorKind: entry.actor.kind.rawValue,
                .source: entry.actor.via, .address: entry.actor.address, .action: entry.action,
                .app: entry.app?.app, .platform: entry.app?.platform.rawValue, .campaign: entry.campaign,
                .object: entry.object,
            ])
            // JSON already.
            writer.member(.before, entry.before) { $0.raw(Array($1.utf8)) }
            writer.member(.after, entry.after) { $0.raw(Array($1.utf8)) }
        }
    }
}

extension LineFormat<AuditEntry> {
    fileprivate static var audit: LineFormat {
        LineFormat(columns: Field.auditColumns.map(\.rawValue)) { writer, entry, _ in
            // Tokens and telephones are kept masked, for everybody.
            writer.audit(entry)
        } cells: { entry, _ in
            [
                entry.at.internetTime, entry.actor.name, entry.actor.kind.rawValue, entry.actor.via,
                entry.actor.address, entry.action, entry.app?.app, entry.app?.platform.rawValue, entry.campaign,
                entry.object, entry.before, entry.after,
            ]
        }
    }
}
