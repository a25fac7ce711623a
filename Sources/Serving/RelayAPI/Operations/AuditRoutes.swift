// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
package import RelayStore
import Requirements
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
        return .json { $0.page(page.items, next: page.next) { $0.object($1, AuditEntry.shape) } }
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

extension AuditEntry {
    /// Tokens and telephones are stored masked, for all readers. `LineFormat.audit` has these members as its columns.
    static let shape = Shape<AuditEntry>(
        "AuditEntry", "One row of the audit trail.",
        [
            .member(.at, .instant, "The time by the relay's clock.") { $0.at },
            .member(
                .actor, .text,
                "An API token's name, a user of the control socket, a webhook's secret, a source; relay is the relay itself, unknown another program that wrote to the database."
            ) { $0.actor.name },
            .member(.actorKind, .words(Principal.Kind.self), "The kind of the actor.") { $0.actor.kind.rawValue },
            .member(
                .source, .text, "The way of the act, as in histories: api, cli, webhook, a release tool, a source."
            ) { $0.actor.via },
            .nullable(
                .address, .text, "The request's origin: an IP address, or control socket. Null: from within the relay."
            ) { $0.actor.address },
            .member(
                .action, .words(AuditAction.self),
                "The act. Rows behind store.accept are the relay's own changes of campaigns."
            ) { $0.action },
            .nullable(.app, .text, "The app that it is about; null: none, or all.") { $0.app?.app },
            .nullable(.platform, .words(Platform.self)) { $0.app?.platform.rawValue },
            .nullable(.campaign, .text, "The id of the campaign that it is about.") { $0.campaign },
            .nullable(
                .object, .text,
                "The changed object, if app and campaign do not name it: a version, a token's name, a masked push token or phone number."
            ) { $0.object },
            .nullable(
                .before, .members,
                "The changed members, as they were; null: there was nothing. Of phone numbers the count."
            ) { $0.before.map { WrittenJSON($0) } },
            .nullable(.after, .members, "The same members, as they are; null: there is nothing.") {
                $0.after.map { WrittenJSON($0) }
            },
        ])
}

extension LineFormat<AuditEntry> {
    fileprivate static var audit: LineFormat {
        LineFormat(columns: AuditEntry.shape.names) {
            $0.object($1, AuditEntry.shape, for: $2)
        } cells: { entry, _ in
            [
                entry.at.internetTime, entry.actor.name, entry.actor.kind.rawValue, entry.actor.via,
                entry.actor.address, entry.action, entry.app?.app, entry.app?.platform.rawValue, entry.campaign,
                entry.object, entry.before, entry.after,
            ]
        }
    }
}
