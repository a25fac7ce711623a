// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The actions that a person may take on a campaign. Each is a form on a page of its own, which shows its effect, the app
/// and the number of devices.
enum CampaignAction: String, CaseIterable {
    case pause, approve, resume, release, retry, cancel

    /// Whether the campaign's state allows it, and it would change something.
    func fits(_ status: CampaignStatus) -> Bool {
        let record = status.record
        if record.isApproval(byAnotherWord: act) { return false }
        if record.acts.contains(act) { return true }
        // Resuming a running campaign that waits for its hours sends it "whatever the hour".
        return self == .resume && record.state == .running && !record.isUrgent && !record.figures.waves.areBetween
            && (status.waitingUntil != nil || record.facts.reason != nil)
    }

    /// Whether a person may let it ignore the app's hours.
    var mayBeUrgent: Bool { self == .approve || self == .resume || self == .release || self == .retry }

    /// The kind of act, which decides the facts that the form carries.
    var act: ActKind {
        switch self {
        case .pause: .pause
        case .approve: .approve
        case .resume: .resume
        case .release: .releaseCampaign
        case .retry: .retry
        case .cancel: .cancel
        }
    }

    func title(_ view: View) -> String {
        switch self {
        case .pause: view.say("Pause")
        case .resume: view.say("Resume")
        case .approve, .release: view.say("Approve")
        case .retry: view.say("Retry")
        case .cancel: view.say("Cancel the campaign")
        }
    }
}

extension View {
    func actions(_ html: inout HTML, _ status: CampaignStatus) {
        let fitting = CampaignAction.allCases.filter { $0.fits(status) }
        guard may(.campaigns), !fitting.isEmpty else { return }
        html.tag("ul", [.class("actions"), .named("aria-label", say("Actions"))]) { html in
            for action in fitting {
                html.tag("li") { html in
                    html.link(
                        PagePath("page", "campaigns", status.record.id, action.rawValue), action.title(self),
                        [.class(action == .cancel ? "button danger" : "button")])
                }
            }
        }
    }

    /// Asks a person to confirm the action.
    ///
    /// - Parameters:
    ///   - fault: why the action has just failed.
    ///   - stale: the facts of an earlier question that no longer hold.
    func confirm(
        _ action: CampaignAction, _ id: String, fault: String? = nil, stale: Stale? = nil
    ) throws -> Response {
        try need(.campaigns)
        let record = try api.record(id, caller)
        let status = try api.control.requirements.status(record)
        let title = "\(action.title(self)): \(name(record.app)), \(record.requirement.version.text)"
        return page(title, at: .campaigns, status: stale != nil ? 409 : fault == nil ? 200 : 422) { html in
            notice(&html, stale)
            for effect in record.effects(of: action.act, counts: status.counts) { html.tag("p", text: words(effect)) }
            html.tag("p") { html in
                html.tag("strong") { $0.foreign(name(record.app)) }
                html.text(
                    ": \(name(record.requirement.target)); \(word(record.state))")
                html.text("; \(say("Audience")): \(number(record.figures.counts.audience))")
            }
            guard action.fits(status) || record.acts.contains(action.act) else {
                html.tag("p", [.class("notice")], text: say("It is %: this cannot be done now.", word(record.state)))
                return html.link(path(record), say("Back"))
            }
            html.form(self, PagePath("page", "campaigns", record.id, action.rawValue)) { html in
                if action.mayBeUrgent { html.checkbox(say("Whatever the hour"), name: "now") }
                if action == .cancel {
                    html.field(
                        say("Type the app's name, %, to cancel", record.app.app), name: "app", fault: fault,
                        [.flag("required")])
                }
                html.carries(action.act, record.shown)
                buttons(&html, action.title(self), isDangerous: action == .cancel, back: path(record))
            }
        }
    }

    func perform(_ action: CampaignAction, _ id: String, _ fields: FormFields) throws -> Response {
        try need(.campaigns)
        let record = try api.record(id, caller)
        if action == .cancel, fields["app"] != record.app.app {
            return try confirm(action, id, fault: say("This is not the name of the app: %", record.app.app))
        }
        let (requirements, isUrgent) = (api.control.requirements, fields["now"] != nil)
        return try perform(action.act, fields, of: record) { caller in
            let actor = caller.actor
            switch action {
            case .pause: _ = try requirements.pause(campaign: record.id, by: actor)
            case .approve: _ = try requirements.approve(campaign: record.id, isUrgent: isUrgent, by: actor)
            case .resume: _ = try requirements.resume(campaign: record.id, isUrgent: isUrgent, by: actor)
            case .release: _ = try requirements.release(campaign: record.id, isUrgent: isUrgent, by: actor)
            case .retry:
                _ = try requirements.retry(
                    campaign: record.id, states: Set(CampaignRound.retried), isUrgent: isUrgent, by: actor)
            case .cancel: _ = try requirements.cancel(campaign: record.id, by: actor)
            }
            return PageHeaders.redirect(to: path(record))
        } again: {
            try confirm(action, id, stale: $0)
        }
    }
}
