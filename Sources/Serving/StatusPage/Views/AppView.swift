// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// One app on one platform: its versions, their history, and the actions on them.
extension View {
    func path(_ key: AppKey, _ step: String? = nil) -> PagePath {
        step.map { PagePath("page", "apps", key.app, key.platform.rawValue, $0) }
            ?? PagePath("page", "apps", key.app, key.platform.rawValue)
    }

    func app(_ key: AppKey, _ query: inout Query) throws -> Response {
        try need(.status)
        let numbers = (
            changes: Self.pageNumber(in: &query, "changes"), force: Self.pageNumber(in: &query, "force"),
            shares: Self.pageNumber(in: &query, "shares")
        )
        try query.finish()
        try api.require(key)
        let version = try api.store.version(of: key).map(api.control.requirements.status)
        let warnings = version.map { api.control.requirements.warnings(of: $0.record) } ?? []
        let history = ListSlice(try api.store.history(of: key, limit: 1000), page: numbers.changes)
        let inForceChanges = try api.store.inForceHistory(of: key, limit: 1000)
        let inForce = ListSlice(inForceChanges, page: numbers.force)
        let shares = try api.store.versionShares(of: key)
        let course = VersionLines(
            try api.store.versionCounts(of: key), inForceChanges, until: shares?.countedAt)
        let entries = try latest(of: key, limit: 20)
        let curves = try part == nil ? releaseCurves(of: key) : []
        return page(name(key), at: .overview, isLive: true) { html in
            html.part("versions", "section", on: ["version"], [.named("aria-labelledby", "versions-title")]) { html in
                html.tag("h2", [.id("versions-title")], text: say("Versions"))
                html.tag("dl", [.class("facts")]) { html in
                    versions(&html, version)
                    if let required = version?.record.requirements.required { terms(&html, required) }
                    if let url = version?.record.texts?.downloadURL {
                        html.fact(say("Download address")) { $0.foreign(url) }
                    }
                    if let message = version?.record.texts?.message {
                        html.fact(say("Message")) { $0.foreign(message.text) }
                    }
                }
                if let version { waiting(&html, version) }
                for warning in warnings {
                    html.tag("p", [.class("notice")]) { reason(&$0, warning) }
                }
                steps(&html, key, version)
            }
            html.tag("section", [.id("changes"), .named("aria-labelledby", "changes-title")]) { html in
                html.tag("h2", [.id("changes-title")], text: say("Requirements over time"))
                changes(&html, history)
                pages(&html, history, path(key), "changes", at: "changes")
            }
            html.tag("section", [.id("force"), .named("aria-labelledby", "force-title")]) { html in
                html.tag("h2", [.id("force-title")], text: say("In force for everybody over time"))
                changes(&html, inForce)
                pages(&html, inForce, path(key), "force", at: "force")
            }
            html.tag("section", [.id("shares"), .named("aria-labelledby", "shares-title")]) { html in
                html.tag("h2", [.id("shares-title")], text: say("Versions in use"))
                if let shares { self.shares(&html, shares, key, numbers.shares) }
                self.course(&html, course)
            }
            if !curves.isEmpty {
                html.tag("section", [.named("aria-labelledby", "releases-title")]) { html in
                    html.tag("h2", [.id("releases-title")], text: say("Releases side by side"))
                    releases(&html, curves)
                }
            }
            html.tag("section", [.named("aria-labelledby", "history-title")]) { html in
                html.tag("h2", [.id("history-title")], text: say("Audit log"))
                timeline(&html, entries)
                html.tag("p") { html in
                    html.link(
                        PagePath("page", "audit").with("app", key.app).with("platform", key.platform.rawValue),
                        say("All of it"))
                }
            }
            html.tag("p") { html in
                html.link(PagePath("page", "campaigns").with("app", key.app), say("Campaigns"))
                guard may(.users) else { return }
                html.text(" · ")
                html.link(
                    PagePath("page", "devices").with("app", key.app).with("platform", key.platform.rawValue),
                    say("Devices"))
            }
        }
    }

    private func terms(_ html: inout HTML, _ row: Requirement) {
        for field in RequirementField.allCases where row.state != .inForce || !field.isOverInForce {
            switch row.terms[field] {
            case .text(let text): html.fact(say(field.label)) { $0.text(text) }
            case .moment(let moment): html.fact(say(field.label)) { $0.time(moment) }
            case nil: break
            }
        }
    }

    private func steps(_ html: inout HTML, _ key: AppKey, _ version: VersionStatus?) {
        guard may(.versions) else { return }
        html.tag("ul", [.class("actions"), .named("aria-label", say("Actions"))]) { html in
            html.tag("li") { $0.link(path(key, "raise"), say("Raise or block a version"), [.class("button")]) }
            if version?.wait != nil {
                html.tag("li") { $0.link(path(key, "release"), say("Approve"), [.class("button")]) }
            }
            if version?.record.required != nil {
                html.tag("li") { $0.link(path(key, "withdraw"), say("Withdraw"), [.class("button danger")]) }
            }
            for block in version?.blocks ?? [] {
                let text = block.requirement.version.text
                html.tag("li") {
                    $0.link(path(key, "unblock").with("version", text), say("Unblock %", text), [.class("button")])
                }
            }
        }
    }

    private func changes(_ html: inout HTML, _ history: ListSlice<VersionChange>) {
        guard !history.items.isEmpty else { return html.tag("p", [.class("quiet")], text: say("Nothing yet.")) }
        html.table(
            say("Requirements over time"),
            [say("When"), say("Required"), say("Latest"), say("Blocked"), say("Who"), say("By which way")]
        ) { html in
            for change in history.items {
                let record = change.record
                html.row(
                    { $0.time(record.updatedAt) },
                    [
                        { $0.text(record.required?.text ?? "–") }, { $0.text(record.latest?.text ?? "–") },
                        {
                            $0.text(
                                record.requirements.blocked.isEmpty
                                    ? "–" : record.requirements.blocked.map(\.text).joined(separator: ", "))
                        },
                        { $0.foreign(change.actor) }, { $0.foreign(word(ofWay: change.source)) },
                    ])
            }
        }
    }

    private func changes(_ html: inout HTML, _ history: ListSlice<InForceChange>) {
        guard !history.items.isEmpty else { return html.tag("p", [.class("quiet")], text: say("Nothing yet.")) }
        html.table(
            say("In force for everybody over time"),
            [say("When"), say("Required"), say("Latest"), say("Who"), say("By which way"), say("Why")]
        ) { html in
            for change in history.items {
                html.row(
                    { $0.time(change.at) },
                    [
                        { $0.text(change.inForce.required?.text ?? "–") },
                        { $0.text(change.inForce.latest?.text ?? "–") },
                        { $0.foreign(change.actor) }, { $0.foreign(word(ofWay: change.source)) },
                        { reason(&$0, change.inForce.floor?.reason ?? "–") },
                    ])
            }
        }
    }

    private func shares(_ html: inout HTML, _ shares: VersionShares, _ key: AppKey, _ number: Int?) {
        let slice = ListSlice(Array(shares.rows.reversed()), page: number)
        html.tag("p") { html in
            html.text(say("Counted at") + " ")
            html.time(shares.countedAt)
            html.text(": \(devices(shares.devices))")
        }
        html.table(say("Versions in use"), [say("Version"), say("Devices"), say("Share"), say("This or older")]) {
            html in
            for row in slice.items {
                html.row(
                    { $0.text(row.version.text) },
                    [
                        { $0.text(self.number(row.devices)) }, { $0.text(percent(row.devices, of: shares.devices)) },
                        { $0.text(percent(row.orOlder, of: shares.devices)) },
                    ])
            }
        }
        pages(&html, slice, path(key), "shares", at: "shares")
    }
}
