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
        var filter = API.auditFilter(&query, caller)
        let cursor = query.cursor(.audit)
        try query.finish()
        filter.campaign = try filter.campaign.map(wholeID)
        func read(_ limit: Int, after start: Int64?) throws -> Page<AuditEntry> {
            try Page(
                limit: limit, after: start, position: \.id, cursor: { Cursor.text(.audit, $0) },
                isVisible: { _ in true }
            ) { try api.store.audit(filter, before: $0, limit: $1) }
        }
        let found = try read(50, after: cursor)
        let all = try ListTotal { try read($0, after: nil) }
        let list = with(filter, PagePath("page", "audit"))
        return page(say("Audit trail"), at: .audit) { html in
            filters(&html, PagePath("page", "audit")) { html in
                html.field(say("App"), name: "app", value: filter.app ?? "")
                html.field(say("Who"), name: "actor", value: filter.actor ?? "")
                html.choice(
                    say("What"), name: "action", chosen: filter.action?.rawValue ?? "",
                    of: [("", say("Any"))] + AuditAction.allCases.map { ($0.rawValue, word($0)) })
                html.field(say("Campaign"), name: "campaign", value: filter.campaign ?? "")
            }
            total(&html, all)
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
    ///
    /// - Parameter isWhole: whether all entries are listed, and nothing is linked, as in a report.
    func history(_ html: inout HTML, _ record: CampaignRecord, isWhole: Bool = false) throws {
        var filter = AuditFilter()
        filter.campaign = record.id
        let entries = try api.store.audit(filter, before: nil, limit: isWhole ? 1000 : Self.mostShown + 1)
        let shown = isWhole ? entries : Array(entries.prefix(Self.mostShown))
        html.tag("h2", [.id("history-title")], text: say("Audit log"))
        timeline(&html, shown.reversed(), isLinked: !isWhole)
        guard shown.count < entries.count else { return }
        html.tag("p", [.class("total")]) { html in
            html.text(say("The latest % of more.", String(shown.count)) + " ")
            html.link(PagePath("page", "audit").with("campaign", record.id), say("All of them"))
        }
    }

    /// The entries that a campaign's page has room for.
    private static var mostShown: Int { 20 }

    private func trail(_ html: inout HTML, _ entries: [AuditEntry], caption: String) {
        guard !entries.isEmpty else { return html.tag("p", [.class("quiet")], text: say("There is none.")) }
        html.table(
            caption,
            [say("When"), say("Who"), say("What"), say("About"), say("Change"), say("From where")]
        ) { html in
            for entry in entries {
                html.row(
                    { html in html.tag("a", [.href(path(entry))]) { $0.time(entry.at) } },
                    [
                        { $0.foreign(name(entry.actor)) },
                        { html in
                            // Another release may have written an action that this one does not know.
                            html.tag("span", [.named("title", entry.action)], text: word(ofAction: entry.action))
                        },
                        { about(&$0, entry) }, { change(&$0, entry) },
                        { $0.foreign(way(entry)) },
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

    /// The members that changed, each with its value before and after. A long value is cut: the CSV has the whole.
    ///
    /// - Parameter isBrief: whether what is gone is left out, as an entry above has it.
    func change(_ html: inout HTML, _ entry: AuditEntry, isBrief: Bool = false) {
        let (before, after) = (Self.members(entry.before), Self.members(entry.after))
        let names = after.map(\.name) + before.map(\.name).filter { name in !after.contains { $0.name == name } }
        guard !names.isEmpty else { return html.text(isBrief ? "" : "–") }
        html.tag("ul", [.class("changes")]) { html in
            for name in names {
                let old = before.first { $0.name == name }?.text
                let new = after.first { $0.name == name }?.text
                guard old != new, new != nil || !isBrief else { continue }
                html.tag("li") { html in
                    html.foreign(word(ofField: name))
                    html.text(say(": "))
                    if let old { value(&html, old) }
                    if old != nil { html.text(" → ") }
                    if let new { value(&html, new) } else { html.text("–") }
                }
            }
        }
    }

    /// A long value is cut once it is in the reader's language.
    private func value(_ html: inout HTML, _ text: String) {
        let (text, isForeign) = language.reason(text)
        html.tag("bdi", isForeign ? [.named("lang", "en")] : []) { html in
            html.sentence(text.count > 100 ? "\(text.prefix(100))…" : text)
        }
    }

    static func members(_ json: String?) -> [(name: String, text: String)] {
        guard let json, case .object(let values)? = try? JSONReader.read(Array(json.utf8)) else { return [] }
        return values.compactMap { member in
            if member.value == .null { return nil }
            let text = member.value.string ?? String(decoding: member.value.bytes(), as: UTF8.self)
            return (member.name, text)
        }
    }
}
