// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The first parts of the first screen: what waits for a person, then what is wrong.
extension View {
    /// - Parameter requests: acts that wait for a second person.
    func waits(_ html: inout HTML, _ matters: [Attention], _ requests: [Approval], _ campaigns: [CampaignStatus]) {
        let decisions = matters.filter { $0.rank == .decision }
        html.tag("h2", [.id("waits-title")], text: say("Waits for you"))
        for request in requests { waits(&html, request, campaigns, heading: "h3") }
        if decisions.isEmpty, requests.isEmpty {
            html.tag("p", [.class("quiet")], text: say("Nothing waits for a person."))
        }
        list(&html, decisions)
    }

    func trouble(_ html: inout HTML, _ matters: [Attention]) {
        html.tag("h2", [.id("trouble-title")], text: say("Problems"))
        if !matters.contains(where: { $0.rank == .trouble }) {
            html.tag("p", [.class("fine")], text: say("Nothing is wrong: the relay can do its work."))
        }
        list(&html, matters.filter { $0.rank != .decision })
    }

    private func list(_ html: inout HTML, _ matters: [Attention]) {
        guard !matters.isEmpty else { return }
        html.tag("div", [.class("matters")]) { html in
            for matter in matters {
                html.tag("div", [.class(matter.rank == .trouble ? "notice bad" : "notice")]) { html in
                    self.matter(&html, matter)
                }
            }
        }
    }

    private func matter(_ html: inout HTML, _ matter: Attention) {
        switch matter.subject {
        case .campaign(let status):
            html.tag("p") { html in
                badge(&html, status)
                html.text(" ")
                html.link(path(status.record), "\(name(status.record.app)): \(name(status.record.requirement.target))")
            }
            if matter.rank == .decision {
                cause(&html, status.record.facts.reason.map(Self.withoutCommand))
            } else {
                standing(&html, status)
            }
            origin(&html, matter)
            campaignActs(&html, matter, status)
        case .version(let key, let row, let reason):
            html.tag("p") { html in
                html.link(path(key), "\(name(key)): \(name(row.target, of: row.kind))")
            }
            cause(&html, reason)
            if row.state == .asked {
                html.tag(
                    "p", [.class("remedy")],
                    text: say("Another program asked for it. Until a person decides, it forces no user."))
            }
            origin(&html, matter)
            versionActs(&html, matter, key, row)
        case .relay(let node):
            html.tag("p") { html in
                html.tag("strong") { $0.foreign(node.description.name) }
                html.text(": " + say("this relay is not heard of any more."))
            }
            html.tag(
                "p", [.class("remedy")],
                text: say("The other relays do its work. Start it again, or another one in its place."))
            origin(&html, matter)
        case .fault(let fault):
            html.tag("p") { html in
                html.tag("strong") { $0.foreign(name(ofPart: fault.part)) }
                html.text(": ")
                reason(&html, fault.reason)
            }
            html.tag("p", [.class("remedy")]) { reason(&$0, fault.remedy) }
        }
    }

    private func cause(_ html: inout HTML, _ reason: String?) {
        guard let reason else { return }
        html.tag("p", [.class("reason")]) { self.reason(&$0, reason) }
    }

    /// The person who asked, since when it waits, and how many devices it is about.
    private func origin(_ html: inout HTML, _ matter: Attention) {
        let isKnown = matter.asker != nil || matter.since != nil || matter.stepDevices != nil || matter.lacking != nil
        guard isKnown else { return }
        html.tag("dl", [.class("facts")]) { html in
            if let asker = matter.asker { html.fact(say("Asked for by")) { $0.foreign(asker) } }
            if let at = matter.askedAt { html.fact(say("Asked for at")) { $0.time(at) } }
            if let since = matter.since {
                html.fact(matter.rank == .decision ? say("Waits since") : say("Since")) { $0.time(since) }
            }
            if let devices = matter.stepDevices {
                html.fact(say("Devices of the next step")) { $0.text(number(devices)) }
            }
            if let devices = matter.lacking { html.fact(say("Devices without it")) { $0.text(number(devices)) } }
        }
    }

    // MARK: Acts

    /// The expected act with its effects, and links to the questions of the others. A decision is taken here, by the form of
    /// its question; where something is wrong, the question is asked first.
    private func campaignActs(_ html: inout HTML, _ matter: Attention, _ status: CampaignStatus) {
        let record = status.record
        guard may(.campaigns, on: record.app) else { return }
        let actions = matter.acts.compactMap { act in CampaignAction.allCases.first { $0.act == act } }
        let direct = matter.rank == .decision ? actions.first : nil
        if let direct {
            html.tag("p", [.class("effect")]) { html in
                html.tag("strong", text: direct.title(self) + ": ")
                html.text(
                    record.effects(of: direct.act, counts: status.counts).map { words($0) }.joined(separator: " "))
            }
        }
        html.tag("ul", [.class("actions")]) { html in
            for action in actions {
                html.tag("li") { html in
                    let path = PagePath("page", "campaigns", record.id, action.rawValue)
                    let label = Attribute.named(
                        "aria-label", "\(action.title(self)): \(name(record.app)), \(record.requirement.version.text)")
                    guard action == direct else {
                        let looks = action == .cancel ? "button danger" : "button"
                        return html.link(path, action.title(self), [.class(looks), label])
                    }
                    html.form(self, path) { html in
                        html.carries(action.act, record.shown)
                        html.button(action.title(self), [label])
                    }
                }
            }
        }
    }

    private func versionActs(_ html: inout HTML, _ matter: Attention, _ key: AppKey, _ row: Requirement) {
        guard may(.versions, on: key) else { return }
        let text = row.version.text
        html.tag("ul", [.class("actions")]) { html in
            for act in matter.acts {
                html.tag("li") { html in
                    switch act {
                    case .release: html.link(path(key, "release"), say("Approve %", text), [.class("button")])
                    case .withdraw:
                        html.link(path(key, "withdraw"), say("Withdraw %", text), [.class("button danger")])
                    case .unblock:
                        html.link(
                            path(key, "unblock").with("version", text), say("Unblock %", text), [.class("button")])
                    default: break
                    }
                }
            }
            html.tag("li") { html in
                html.link(
                    path(key, "raise"), say("Raise or block a version"),
                    [.class("button"), .named("aria-label", "\(say("Raise or block a version")): \(name(key))")])
            }
        }
    }

    /// A version that waits, as a sentence.
    private func name(_ target: UpgradeTarget, of kind: Requirement.Kind) -> String {
        kind == .latest ? say("% is the latest", target.version.text) : name(target)
    }

    // MARK: The line of an app

    /// The app in one line, for people who follow a rollout.
    func summary(_ html: inout HTML, _ summary: AppSummary) {
        html.tag("p", [.class("headline")]) { html in
            for (index, part) in summary.parts.enumerated() {
                if index > 0 { html.text(say("; ")) }
                var values = part.values[...]
                for (place, text) in TextPattern.texts(of: say(part.pattern)).enumerated() {
                    if place > 0, let value = values.popFirst() { self.value(&html, value) }
                    html.text(text)
                }
            }
            html.text(say("."))
        }
    }

    private func value(_ html: inout HTML, _ value: AppSummary.Part.Value) {
        switch value {
        case .text(let text): html.foreign(text)
        case .share(let share): html.text(percent(share.part, of: share.whole))
        case .step(let step): html.text(words(step))
        case .time(let time): html.time(time)
        }
    }
}
