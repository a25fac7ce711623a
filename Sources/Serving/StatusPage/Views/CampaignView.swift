// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// One campaign, and the list of them.
extension View {
    func campaign(_ id: String) throws -> Response {
        try need(.status)
        let whole = try wholeID(id)
        guard whole == id else { return PageHeaders.redirect(to: PagePath("page", "campaigns", whole)) }
        let record = try api.record(id, caller)
        let status = try api.control.requirements.status(record)
        let title = "\(name(record.app)): \(name(record.requirement.target))"
        return try page(title, at: .campaigns, isLive: true) { html in
            html.part("state", "section", on: ["campaign"], [.named("aria-labelledby", "state-title")]) { html in
                html.tag("h2", [.id("state-title")]) { html in
                    html.text(say("State") + " ")
                    badge(&html, status)
                }
                standing(&html, status)
                html.tag("dl", [.class("facts")]) { html in
                    progressFacts(&html, status)
                    moments(&html, status)
                }
                counts(&html, status.counts, linked: record)
                actions(&html, status)
            }
            html.part("waves", "section", on: ["campaign"], [.named("aria-labelledby", "waves-title")]) {
                waves(&$0, status)
            }
            html.part("reasons", "section", on: ["campaign"], [.named("aria-labelledby", "reasons-title")]) { html in
                html.tag("h2", [.id("reasons-title")], text: say("Filtered and rejected"))
                if record.figures.filteredBy.isEmpty, record.figures.rejectedBy.isEmpty {
                    html.tag("p", [.class("quiet")], text: say("Nobody was filtered, and nothing was rejected."))
                }
                reasons(&html, record, most: 50)
                channels(&html, record)
            }
            try html.part("adoption", "section", on: ["campaign"], [.named("aria-labelledby", "adoption-title")]) {
                html in
                html.tag("h2", [.id("adoption-title")], text: say("Adoption"))
                guard let adoption = try api.store.adoption(of: record.key) else { return }
                self.adoption(&html, adoption, id: "chart-adoption")
                reach(&html, adoption)
            }
            try html.part("time", "section", on: ["campaign"], [.named("aria-labelledby", "time-title")]) {
                try outcomes(&$0, record)
                try latency(&$0, record)
            }
            try html.part("history", "section", on: ["campaign"], [.named("aria-labelledby", "history-title")]) {
                try history(&$0, record)
            }
            html.tag("p") { html in
                html.link(PagePath("v1", "campaigns", record.id, "report"), say("Report as a file for the ticket"))
                html.text(" · ")
                html.link(
                    PagePath("v1", "campaigns", record.id, "deliveries").with("format", "csv"),
                    say("All deliveries as CSV"))
            }
        }
    }

    private func moments(_ html: inout HTML, _ status: CampaignStatus) {
        let record = status.record
        html.fact(say("Campaign")) { $0.tag("code", text: record.id) }
        html.fact(say("Created")) { $0.time(record.facts.createdAt) }
        html.fact(say("Started")) { $0.time(record.facts.startedAt) }
        if record.state.isFinal {
            html.fact(say("Finished")) { $0.time(record.facts.finishedAt) }
        } else {
            html.fact(say("Ends at the latest")) { $0.time(record.facts.expiresAt) }
        }
        if let at = record.facts.urgentAt {
            html.fact(say("Whatever the hour")) { html in
                html.time(at)
                html.text(" ")
                if let by = record.facts.urgentBy { html.foreign(by) }
            }
        }
        if let at = status.nextReminderAt { html.fact(say("Next reminder")) { $0.time(at) } }
        html.fact(say("Download address")) { $0.foreign(record.facts.downloadURL) }
        if let message = record.requirement.message?.text { html.fact(say("Message")) { $0.foreign(message) } }
    }

    /// The steps of the rollout, and the figures of its waves as a table.
    func waves(_ html: inout HTML, _ status: CampaignStatus) {
        html.tag("h2", [.id("waves-title")], text: say("Rollout"))
        rollout(&html, status)
        guard !status.record.figures.waves.isEmpty else { return }
        html.tag("details", [.id("waves-numbers")]) { html in
            html.tag("summary", text: say("The same as numbers"))
            table(&html, of: status.record)
        }
    }

    private func table(_ html: inout HTML, of record: CampaignRecord) {
        html.table(
            say("Waves"),
            [
                say("Wave"), say("Up to"), say("Devices"), say("Pending"), say("Accepted"), say("Failed"),
                say("Tried again"), say("Begun"), say("Ended"),
            ]
        ) { html in
            for wave in record.figures.waves.list {
                html.row(
                    { $0.text(String(wave.number + 1)) },
                    [
                        { $0.text("\(WavePlan.percentText(wave.end)) %") }, { $0.text(number(wave.devices)) },
                        { $0.text(number(wave.pending)) }, { $0.text(number(wave.accepted)) },
                        { $0.text(number(wave.failed)) }, { $0.text(number(wave.retrying)) },
                        { $0.time(wave.begunAt) }, { $0.time(ended(wave, of: record)) },
                    ])
            }
        }
    }

    /// When a wave ended; for the one that the campaign ended in, with the campaign.
    private func ended(_ wave: CampaignWave, of record: CampaignRecord) -> Timestamp? {
        wave.endedAt ?? (wave.begunAt != nil && record.state.isFinal ? record.facts.finishedAt : nil)
    }

    func reach(_ html: inout HTML, _ adoption: CampaignAdoption) {
        let record = adoption.record
        html.tag("dl", [.class("facts")]) { html in
            html.fact(say("After a push")) { $0.text(number(record.figures.reach.push)) }
            html.fact(say("After the word at login")) { $0.text(number(record.figures.reach.login)) }
            html.fact(say("After both")) { $0.text(number(record.figures.reach.both)) }
            html.fact(say("Not known how")) { $0.text(number(record.reachedUnknown)) }
            html.fact(say("Were current already")) { $0.text(number(record.alreadyCurrent)) }
        }
    }

    // MARK: The list

    func campaigns(_ query: inout Query) throws -> Response {
        try need(.status)
        let cursor = query.cursor(.campaigns)
        let app = query.filledText("app")
        let state = query.text("state").flatMap { CampaignState(rawValue: $0) }
        try query.finish()
        let found = try Page(
            limit: 50, after: cursor, position: \.key.row, cursor: { Cursor.text(.campaigns, $0) },
            isVisible: { record in
                maySee(record.app) && (app ?? record.app.app) == record.app.app
                    && (state ?? record.state) == record.state
            }
        ) { try api.store.campaigns(before: $0.map(CampaignKey.init(row:)), limit: $1) }
        let statuses = try found.items.map(api.control.requirements.status)
        let list = PagePath("page", "campaigns").with("app", app).with("state", state?.rawValue)
        let all =
            part != nil
            ? nil
            : try api.store.census().campaigns.filter { kind, _ in
                maySee(kind.app) && (app ?? kind.app.app) == kind.app.app && (state ?? kind.state) == kind.state
            }.values.reduce(0, +)
        return page(say("Campaigns"), at: .campaigns, isLive: cursor == nil) { html in
            filters(&html, PagePath("page", "campaigns")) { html in
                html.field(say("App"), name: "app", value: app ?? "")
                html.choice(
                    say("State"), name: "state", chosen: state?.rawValue ?? "",
                    of: [("", say("Any"))] + CampaignState.allCases.map { ($0.rawValue, word($0)) })
            }
            total(&html, all.map { .exactly($0) })
            html.part("list", on: ["campaign"]) { html in
                html.table(
                    say("Campaigns"),
                    [
                        say("App"), say("Version"), say("State"), say("Created"), say("Audience"), say("Done"),
                        say("Upgraded"),
                    ]
                ) { html in
                    for status in statuses { row(&html, status) }
                }
                if found.items.isEmpty { html.tag("p", [.class("quiet")], text: say("There is none.")) }
            }
            more(&html, list, found.next)
        }
    }

    private func row(_ html: inout HTML, _ status: CampaignStatus) {
        let record = status.record
        html.row(
            { html in html.tag("a", [.href(path(record))]) { $0.foreign(name(record.app)) } },
            [
                { $0.text(name(record.requirement.target)) }, { badge(&$0, status) },
                { $0.time(record.facts.createdAt) },
                { $0.text(number(status.counts.audience)) },
                { $0.text(percent(status.counts.settled, of: status.counts.audience)) },
                { $0.text(percent(record.figures.upgraded, of: record.toUpgrade)) },
            ])
    }
}
