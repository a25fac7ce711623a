// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The audit trail, of everything and of one campaign.
extension View {
    func audit(_ query: inout Query) throws -> Response {
        try need(.status)
        let filter = API.auditFilter(&query, caller)
        let cursor = query.cursor(.audit)
        try query.finish()
        let found = try Page(
            limit: 50, after: cursor, position: \.id, cursor: { Cursor.text(.audit, $0) }, isVisible: { _ in true }
        ) { try api.store.audit(filter, before: $0, limit: $1) }
        let list = with(filter, PagePath("page", "audit"))
        return page(say("Audit trail"), at: .audit) { html in
            filters(&html, PagePath("page", "audit")) { html in
                html.field(say("App"), name: "app", value: filter.app ?? "")
                html.field(say("Who"), name: "actor", value: filter.actor ?? "")
                html.choice(
                    say("What"), name: "action", chosen: filter.action?.rawValue ?? "",
                    of: [("", say("Any"))] + AuditAction.allCases.map { ($0.rawValue, $0.rawValue) })
                html.field(say("Campaign"), name: "campaign", value: filter.campaign ?? "")
            }
            trail(&html, found.items, caption: say("Audit trail"))
            more(&html, list, found.next)
            html.tag("p") { html in
                html.link(with(filter, PagePath("v1", "audit")).with("format", "csv"), say("These as CSV"))
            }
        }
    }

    private func with(_ filter: AuditFilter, _ path: PagePath) -> PagePath {
        path.with("app", filter.app).with("platform", filter.platform?.rawValue).with("actor", filter.actor)
            .with("action", filter.action?.rawValue).with("campaign", filter.campaign)
            .with("since", filter.since?.internetTime)
    }

    /// A campaign's states over time, with actors and reasons.
    func history(_ html: inout HTML, _ record: CampaignRecord, isLinked: Bool = true) throws {
        var filter = AuditFilter()
        filter.campaign = record.id
        let entries = try api.store.audit(filter, before: nil, limit: 200)
        html.tag("h2", [.id("history-title")], text: say("Audit log"))
        timeline(&html, entries.reversed(), isLinked: isLinked)
    }

    private func trail(_ html: inout HTML, _ entries: [AuditEntry], caption: String) {
        guard !entries.isEmpty else { return html.tag("p", [.class("quiet")], text: say("There is none.")) }
        html.table(
            caption,
            [say("When"), say("Who"), say("What"), say("About"), say("Before"), say("After"), say("From where")]
        ) { html in
            for entry in entries {
                html.row(
                    { html in html.tag("a", [.href(path(entry))]) { $0.time(entry.at) } },
                    [
                        { $0.foreign(entry.actor.name) }, { $0.tag("code", text: entry.action) },
                        { about(&$0, entry) }, { $0.foreign(words(entry.before)) },
                        { $0.foreign(words(entry.after)) }, { $0.foreign(way(entry)) },
                    ])
            }
        }
    }

    private func about(_ html: inout HTML, _ entry: AuditEntry) {
        if let app = entry.app { html.foreign(name(app)) }
        if let object = entry.object {
            html.text(" ")
            html.foreign(object)
        }
        guard let campaign = entry.campaign else { return }
        html.text(" ")
        html.link(PagePath("page", "campaigns", campaign), campaign)
    }

    /// A JSON object in readable form: "state: running, reason: …".
    func words(_ json: String?) -> String {
        guard let json, case .object(let values)? = try? JSONReader.read(Array(json.utf8)) else { return "–" }
        let members = values.map {
            "\($0.name): \($0.value.string ?? String(decoding: $0.value.bytes(), as: UTF8.self))"
        }
        return members.isEmpty ? "–" : members.joined(separator: ", ")
    }
}
