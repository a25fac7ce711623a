// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// A campaign as one file for a ticket: figures, waves, reasons, adoption and history. It loads nothing, and holds no phone
/// number and no token.
extension View {
    func report(_ id: String) throws -> Response {
        try need(.status)
        let record = try api.record(id, caller)
        let status = try api.control.requirements.status(record)
        let adoption = try api.store.adoption(of: record.key)
        let title = "\(name(record.app)): \(name(record.requirement.target))"
        var html = HTML()
        html.zone = zone
        html.doctype()
        try html.tag("html", [.named("lang", language.tag)]) { html in
            html.tag("head") { html in
                html.void("meta", [.named("charset", "utf-8")])
                html.void(
                    "meta",
                    [
                        .named("http-equiv", "Content-Security-Policy"),
                        .named("content", "default-src 'none'; style-src 'unsafe-inline'"),
                    ])
                html.tag("title", text: title)
                html.void(
                    "meta", [.named("name", "viewport"), .named("content", "width=device-width, initial-scale=1")])
                html.sheet(PageAssets.current.style)
            }
            try html.tag("body", [.class("report")]) { html in
                try html.tag("main") { html in
                    html.tag("h1", text: title)
                    html.tag("p") { html in
                        html.text(say("As of") + " ")
                        html.time(now)
                        html.text(" · Upgrade Relay")
                    }
                    try content(&html, status, adoption)
                }
            }
        }
        return PageHeaders.response(
            200, html.bytes, policy: PageHeaders.reportPolicy,
            more: [("Content-Disposition", "attachment; filename=\"campaign-\(record.id).html\"")])
    }

    private func content(_ html: inout HTML, _ status: CampaignStatus, _ adoption: CampaignAdoption?) throws {
        let record = status.record
        html.tag("h2") { html in
            html.text(say("State") + " ")
            badge(&html, status)
        }
        if let why = record.facts.reason { html.tag("p") { reason(&$0, why) } }
        html.tag("dl", [.class("facts")]) { html in
            html.fact(say("Campaign")) { $0.tag("code", text: record.id) }
            progressFacts(&html, status)
            html.fact(say("Created")) { $0.time(record.facts.createdAt) }
            html.fact(say("Started")) { $0.time(record.facts.startedAt) }
            html.fact(say("Finished")) { $0.time(record.facts.finishedAt) }
            html.fact(say("Download address")) { $0.foreign(record.facts.downloadURL) }
            if let canary = record.requirement.canary {
                html.fact(say("Canary")) { $0.text(say("% phone numbers", String(canary.count))) }
            }
        }
        counts(&html, status.counts)
        waves(&html, status)
        html.tag("h2", text: say("Filtered and rejected"))
        reasons(&html, record, most: 100, isLinked: false)
        if let adoption {
            html.tag("h2", text: say("Adoption"))
            self.adoption(&html, adoption, id: "chart")
            reach(&html, adoption)
        }
        try history(&html, record, isWhole: true)
    }
}
