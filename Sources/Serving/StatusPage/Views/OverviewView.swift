// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The first screen: whether all is well, and if not, why.
extension View {
    func overview() throws -> Response {
        try need(.status)
        let overview = seen(try api.overview())
        // A store that cannot be read is among the faults.
        func nodes() -> [NodeStatus] { (try? api.nodeStatuses(for: caller)) ?? [] }
        return page(say("Overview"), at: .overview, isLive: true, asOf: overview.at) { html in
            // Screen readers announce changes while the page is open (WAI-ARIA 1.2, section 6.6, "aria-live").
            html.part(
                "waits", "section", on: ["campaign", "version", "approvals"],
                [.named("aria-labelledby", "waits-title"), .named("aria-live", "polite")]
            ) { html in
                let requests = overview.approvals.map(\.approval)
                let matters = Attention.all(in: overview, relays: [], askedFor: requests)
                waits(&html, matters, requests, overview.campaigns)
            }
            html.part(
                "trouble", "section", on: ["readiness", "campaign", "version"],
                [.named("aria-labelledby", "trouble-title"), .named("aria-live", "polite")]
            ) { trouble(&$0, Attention.all(in: overview, relays: nodes().map(\.record))) }
            html.part("apps", "section", on: ["campaign", "version"], [.named("aria-labelledby", "apps-title")]) {
                html in
                html.tag("h2", [.id("apps-title")], text: say("Apps"))
                if overview.apps.isEmpty { html.tag("p", text: say("No app is configured that you may see.")) }
                let matters = Attention.all(in: overview, relays: [])
                for app in sorted(overview.apps, overview) { self.app(&html, app, overview, matters) }
            }
            html.part("relays", "div", on: ["readiness", "campaign"]) { relays(&$0, nodes()) }
        }
    }

    /// The part of a look that the reader may see.
    private func seen(_ overview: Overview) -> Overview {
        var overview = overview
        overview.apps.removeAll { !maySee($0.key) }
        overview.campaigns.removeAll { !maySee($0.record.app) }
        overview.approvals.removeAll { !maySee($0.approval.app) }
        (overview.faults, overview.warnings) = (seen(overview.faults), seen(overview.warnings))
        return overview
    }

    /// Apps in trouble come first, then those with an open campaign.
    private func sorted(_ apps: [Overview.App], _ overview: Overview) -> [Overview.App] {
        func rank(_ app: Overview.App) -> Int {
            let campaigns = campaigns(of: app.key, overview)
            if campaigns.contains(where: isInTrouble) { return 0 }
            return campaigns.contains { !$0.record.state.isFinal } ? 1 : 2
        }
        return apps.sorted { (rank($0), $0.key) < (rank($1), $1.key) }
    }

    private func campaigns(of app: AppKey, _ overview: Overview) -> [CampaignStatus] {
        overview.campaigns.filter { $0.record.app == app }
    }

    /// - Parameter matters: those that stand above, with their reasons, which are not repeated.
    private func app(_ html: inout HTML, _ app: Overview.App, _ overview: Overview, _ matters: [Attention]) {
        let id = "app-\(app.key.app)-\(app.key.platform.rawValue)"
        html.tag("article", [.class("card"), .named("aria-labelledby", id)]) { html in
            html.tag("h3", [.id(id)]) { html in
                html.tag("a", [.href(PagePath("page", "apps", app.key.app, app.key.platform.rawValue))]) {
                    $0.foreign(name(app.key))
                }
            }
            summary(
                &html,
                AppSummary(
                    app.version, campaigns: campaigns(of: app.key, overview), shares: overview.shares[app.key]))
            html.tag("dl", [.class("facts")]) { versions(&$0, app.version) }
            if let version = app.version, !matters.contains(where: { $0.isAbout(versionOf: app.key) }) {
                waiting(&html, version)
            }
            let shown = CampaignsThatCount.of(campaigns(of: app.key, overview), \.record.state)
            for status in shown {
                let isSaid = matters.contains { $0.isAbout(status.record) }
                campaign(&html, status, after: isSaid ? status.record.facts.reason : app.version?.wait?.reason)
            }
            if shown.isEmpty { html.tag("p", [.class("quiet")], text: say("No campaign yet.")) }
            if let adoption = app.adoption, adoption.record.figures.upgraded > 0 {
                self.adoption(&html, adoption, id: "chart-\(adoption.record.id)")
            }
        }
    }

    /// The versions in force and those asked for.
    func versions(_ html: inout HTML, _ version: VersionStatus?) {
        let record = version?.record
        html.fact(say("In force")) { $0.text(record?.inForce.required?.text ?? "–") }
        html.fact(say("Required")) { $0.text(record?.required?.text ?? "–") }
        html.fact(say("Latest")) { $0.text(record?.latest?.text ?? "–") }
        let blocks = version?.blocks ?? []
        guard !blocks.isEmpty else { return }
        html.fact(say("Blocked")) { html in
            html.text(blocks.map { "\($0.requirement.version.text) (\(word($0)))" }.joined(separator: ", "))
        }
    }

    private func word(_ block: BlockStatus) -> String {
        switch block.state {
        case "inForce": say("in force")
        case "superseded": say("superseded")
        default: say("waiting")
        }
    }

    /// The reason that holds the requirement back, and when it ends.
    func waiting(_ html: inout HTML, _ version: VersionStatus) {
        guard let wait = version.wait else { return }
        html.tag("div", [.class(wait.isHalted ? "notice bad" : "notice")]) { html in
            html.tag("p") { html in
                html.tag("strong", text: say("Held by the gate") + ": ")
                reason(&html, wait.reason)
            }
            if let at = wait.end {
                html.tag("p") { html in
                    html.text(say("Opens at") + " ")
                    html.time(at)
                }
            }
            // A version that another program asked for, and that is not taken up, has its remedy in the reason.
            if let remedy = wait.wait?.kind.remedy { html.tag("p", [.class("remedy")], text: say(remedy)) }
        }
    }

    private func campaign(_ html: inout HTML, _ status: CampaignStatus, after said: String?) {
        html.tag("section", [.class("campaign")]) { html in
            html.tag("h4") { html in
                html.link(path(status.record), name(status.record.requirement.target))
                html.text(" ")
                badge(&html, status)
            }
            standing(&html, status, after: said)
            html.tag("dl", [.class("facts")]) { progressFacts(&$0, status) }
            counts(&html, status.counts, linked: status.record)
            reasons(&html, status.record, most: 3)
        }
    }
}
