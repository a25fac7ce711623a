// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// Requests for a second person: what waits, with its forms, and what is over.
extension View {
    func approvals(_ query: inout Query) throws -> Response {
        try need(.status)
        let cursor = query.cursor(.approvals)
        try query.finish()
        let found = try api.approvals(after: cursor, limit: 50, caller)
        // All that wait stand on the first page, however many are over since.
        let open = try cursor == nil ? api.openApprovals(of: nil).filter { maySee($0.approval.app) } : []
        let closed = found.items.filter { $0.state != .open }
        return page(say("Second person"), at: .approvals, isLive: true) { html in
            html.part("requests", on: ["approvals"], [.named("aria-live", "polite")]) { html in
                let campaigns = open.isEmpty ? [] : (try? api.overview())?.campaigns ?? []
                for approval in open { waits(&html, approval.approval, campaigns) }
                if open.isEmpty, cursor == nil {
                    html.tag("p", [.class("quiet")], text: say("Nothing waits for a second person."))
                }
            }
            if !closed.isEmpty {
                html.tag("h2", text: say("Over"))
                list(&html, closed)
            }
            more(&html, PagePath("page", "approvals"), found.next)
        }
    }

    /// One request that waits, with its forms: a part of any page.
    ///
    /// - Parameter campaigns: those of all apps, for the effects of the act.
    func waits(
        _ html: inout HTML, _ approval: Approval, _ campaigns: [CampaignStatus], heading: StaticString = "h2"
    ) {
        html.tag("section", [.class("notice")]) { html in
            html.tag(heading, text: "\(name(approval.app)): \(words(approval))")
            html.tag("dl", [.class("facts")]) { html in
                html.fact(say("Asked for by")) { $0.foreign(approval.asked.name) }
                html.fact(say("Waits since")) { $0.time(approval.askedAt) }
                html.fact(say("Until")) { $0.time(approval.until) }
                html.fact(say("Devices that it reaches")) {
                    $0.text(say("% of %", number(approval.reach.devices), number(approval.reach.all)))
                }
            }
            html.tag("p", [.class("effect")]) { html in
                html.tag("strong", text: say("Approve") + say(": "))
                html.text(effects(of: approval, campaigns))
            }
            guard may(.versions, on: approval.app), may(approval.scope, on: approval.app) else { return }
            let path = PagePath("page", "approvals", String(approval.id))
            let isOwn = approval.asked.person == caller.actor.person
            if isOwn { html.tag("p", text: say("You asked for it: a second person approves it.")) }
            html.tag("ul", [.class("actions")]) { html in
                if !isOwn {
                    html.tag("li") { html in
                        html.form(self, PagePath("page", "approvals", String(approval.id), "approve")) { html in
                            html.button(say("Approve"))
                        }
                    }
                }
                html.tag("li") { $0.link(path, isOwn ? say("Take it back") : say("Refuse"), [.class("button")]) }
            }
        }
    }

    /// The effects of the act that is asked for, as sentences.
    private func effects(of approval: Approval, _ campaigns: [CampaignStatus]) -> String {
        let act: ActKind = approval.wish.act == .cancel ? .cancel : .approve
        let status = campaigns.first { status in
            status.record.app == approval.app && status.record.requirement.version == approval.wish.version
                && status.record.acts.contains(act)
        }
        guard approval.wish.act == .release || approval.wish.act == .cancel, let status else {
            return say("It counts as if it was asked for now.")
        }
        return status.record.effects(of: act, counts: status.counts).map { words($0) }.joined(separator: " ")
    }

    /// Asks why a request is refused.
    func confirmRefusal(_ id: String, fault: String? = nil) throws -> Response {
        try need(.versions)
        let approval = try api.approval(id, caller)
        try need(approval.scope)
        return page(
            "\(say("Refuse")): \(name(approval.app)), \(words(approval))", at: .approvals,
            status: fault == nil ? 200 : 422
        ) { html in
            html.tag("p", text: say("Nothing changes. A machine that asks for the same again is refused."))
            html.form(self, PagePath("page", "approvals", id, "refuse")) { html in
                html.field(say("Why, for the history"), name: "reason", fault: fault, [.flag("required")])
                buttons(&html, say("Refuse"), isDangerous: true, back: PagePath("page", "approvals"))
            }
        }
    }

    func approve(_ id: String) throws -> Response {
        try need(.versions)
        try api.approve(api.approval(id, caller), by: caller)
        return PageHeaders.redirect(to: PagePath("page", "approvals"))
    }

    func refuse(_ id: String, _ fields: FormFields) throws -> Response {
        try need(.versions)
        let approval = try api.approval(id, caller)
        guard let reason = fields["reason"], !reason.isEmpty, reason.unicodeScalars.count <= API.longestReason else {
            return try confirmRefusal(
                id, fault: say("A reason is needed, of % characters at most.", "\(API.longestReason)"))
        }
        _ = try api.refuse(approval, reason, by: caller)
        return PageHeaders.redirect(to: PagePath("page", "approvals"))
    }

    private func list(_ html: inout HTML, _ approvals: [ShownApproval]) {
        html.table(
            say("Over"),
            [say("When"), say("What"), say("App"), say("Asked by"), say("State"), say("Who"), say("Why")]
        ) { html in
            for shown in approvals {
                let approval = shown.approval
                html.row(
                    { $0.time(approval.askedAt) },
                    [
                        { $0.text(words(approval)) }, { $0.foreign(name(approval.app)) },
                        { $0.foreign(approval.asked.name) }, { $0.text(word(shown.state)) },
                        { $0.foreign(approval.closedBy ?? "–") }, { $0.foreign(approval.reason ?? "–") },
                    ])
            }
        }
    }

    private func words(_ approval: Approval) -> String {
        let version = approval.wish.version.text
        return switch approval.wish.act {
        case .raise: say("require %", version)
        case .block: say("block %", version)
        case .release: say("release %", version)
        case .cancel: say("cancel the campaign of %", version)
        }
    }

    private func word(_ state: Approval.State) -> String {
        switch state {
        case .open: say("waits")
        case .approved: say("approved")
        case .refused: say("refused")
        case .superseded: say("superseded by a newer request")
        case .expired: say("ended without an approval")
        case .alone: say("done by one person alone")
        }
    }
}
