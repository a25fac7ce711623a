// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The history as a timeline. Each entry has a link that stays: the entry's own page.
extension View {
    func path(_ entry: AuditEntry) -> PagePath { PagePath("page", "audit", String(entry.id)) }

    /// - Parameters:
    ///   - entries: in the order in which they are shown.
    ///   - isLinked: whether there is a server behind the links.
    func timeline(_ html: inout HTML, _ entries: [AuditEntry], isLinked: Bool = true) {
        guard !entries.isEmpty else { return html.tag("p", [.class("quiet")], text: say("There is none.")) }
        html.tag("ol", [.class("timeline")]) { html in
            for entry in entries {
                let id = "entry-\(entry.id)"
                html.tag("li", [.id(id)]) { html in
                    html.tag("p") { html in
                        if isLinked {
                            html.tag("a", [.href(path(entry))]) { $0.time(entry.at) }
                        } else {
                            html.time(entry.at)
                        }
                        html.text(" ")
                        html.tag("strong") { $0.foreign(name(entry.actor)) }
                        html.text(say(": "))
                        html.tag("span", [.named("title", entry.action)], text: word(entry))
                        if let object = entry.object {
                            html.text(" ")
                            html.foreign(object)
                        }
                    }
                    difference(&html, entry)
                }
            }
        }
    }

    /// The latest entries about an app, the newest first.
    func latest(of app: AppKey, limit: Int) throws -> [AuditEntry] {
        var filter = AuditFilter()
        (filter.app, filter.platform) = (app.app, app.platform)
        return try api.store.audit(filter, before: nil, limit: limit)
    }

    /// One entry, under the link that stays.
    func auditEntry(_ text: String) throws -> Response {
        try need(.status)
        var filter = AuditFilter()
        filter.apps = caller.apps
        guard let id = Int64(text), id > 0, id < .max,
            let entry = try api.store.audit(filter, before: id + 1, limit: 1).first, entry.id == id
        else { throw ProblemDetails(404, say("There is no entry %. Old entries are forgotten.", text)) }
        return page(say("Audit log: entry %", text), at: .audit) { html in
            html.tag("dl", [.class("facts")]) { html in
                html.fact(say("When")) { $0.time(entry.at) }
                html.fact(say("Who")) { $0.foreign(name(entry.actor)) }
                html.fact(say("What")) { html in
                    html.text(word(entry) + " ")
                    html.tag("code", text: entry.action)
                }
                if let app = entry.app {
                    html.fact(say("App")) { html in html.tag("a", [.href(path(app))]) { $0.foreign(name(app)) } }
                }
                if let object = entry.object { html.fact(say("About")) { $0.foreign(object) } }
                if let campaign = entry.campaign {
                    html.fact(say("Campaign")) { $0.link(PagePath("page", "campaigns", campaign), campaign) }
                }
                html.fact(say("Change")) { change(&$0, entry) }
                html.fact(say("From where")) { $0.foreign(way(entry)) }
            }
            html.tag("p") { $0.link(PagePath("page", "audit"), say("Audit trail")) }
        }
    }

    /// The way that an act came: "cli, 10.0.0.7".
    func way(_ entry: AuditEntry) -> String {
        let address = entry.actor.address.map { $0 == Principal.controlSocket ? say("control socket") : $0 }
        return [word(ofWay: entry.actor.via), address].compactMap(\.self).joined(separator: say(", "))
    }

    private func difference(_ html: inout HTML, _ entry: AuditEntry) {
        if entry.before != nil || entry.after != nil { change(&html, entry, isBrief: true) }
        guard !way(entry).isEmpty else { return }
        html.tag("p", [.class("quiet")]) { $0.foreign(way(entry)) }
    }

    /// Whether the campaign stood between two waves before the act.
    private static func hasHeldWave(_ entry: AuditEntry) -> Bool {
        members(entry.before).contains { member in
            member.name == Field.reason.rawValue
                && (member.text.hasPrefix("WaveDone: ") || member.text.hasPrefix("WaveFailed: "))
        }
    }

    /// The act in words; the name of one that only a later release knows.
    func word(_ entry: AuditEntry) -> String {
        guard let action = AuditAction(rawValue: entry.action) else { return entry.action }
        return switch action {
        case .versionBump: say("asked for a version")
        case .versionBlock: say("blocked a version")
        case .versionUnblock: say("unblocked a version")
        case .versionRelease: say("released a version")
        case .versionWithdraw: say("withdrew a version")
        case .campaignPause: say("paused the campaign")
        case .campaignResume:
            Self.hasHeldWave(entry) ? say("approved the next step") : say("resumed the campaign")
        case .campaignHurry: say("let it send whatever the hour")
        case .campaignRelease: say("approved the next step")
        case .campaignCancel: say("cancelled the campaign")
        case .campaignRetry: say("let it send again")
        case .approvalAsk: say("asked for an act that a second person approves")
        case .approvalApprove: say("approved it as the second person")
        case .approvalRefuse: say("refused it")
        case .approvalAlone: say("did alone what wants a second person")
        case .alertSet: say("set the notice at launch")
        case .alertClear: say("ended the notice at launch")
        case .tokenCreate: say("made an API token")
        case .tokenRevoke: say("revoked an API token")
        case .sessionEnd: say("signed a browser out")
        case .deviceRemove: say("removed a device")
        case .userErase: say("erased a user")
        case .relayReload: say("loaded the configuration again")
        case .logLevel: say("changed the level of the log")
        case .storeAccept: say("accepted a store that went back in time")
        case .campaignCreate: say("began the campaign")
        case .campaignWait: say("the campaign waits")
        case .campaignBegin: say("the campaign is sent")
        case .campaignWave: say("the next step began")
        case .campaignSuspend: say("the campaign was suspended")
        case .campaignComplete: say("the campaign is complete")
        case .campaignSupersede: say("a newer version took its place")
        case .campaignRemind: say("users who are still behind are reminded")
        }
    }
}
