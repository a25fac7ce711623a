// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements

/// Where a page belongs in the navigation.
enum Place: CaseIterable {
    case overview, campaigns, approvals, users, devices, deliveries, tokens, audit

    var path: PagePath {
        switch self {
        case .overview: .home
        case .campaigns: PagePath("page", "campaigns")
        case .approvals: PagePath("page", "approvals")
        case .users: PagePath("page", "users")
        case .devices: PagePath("page", "devices")
        case .deliveries: PagePath("page", "deliveries")
        case .tokens: PagePath("page", "tokens")
        case .audit: PagePath("page", "audit")
        }
    }

    func title(_ view: View) -> String {
        switch self {
        case .overview: view.say("Overview")
        case .campaigns: view.say("Campaigns")
        case .approvals: view.say("Second person")
        case .users: view.say("A user")
        case .devices: view.say("Devices")
        case .deliveries: view.say("Deliveries")
        case .tokens: view.say("API tokens")
        case .audit: view.say("Audit trail")
        }
    }

    func isFor(_ view: View) -> Bool {
        switch self {
        case .overview, .campaigns, .approvals, .deliveries, .audit: view.may(.status)
        case .users, .devices: view.may(.users)
        case .tokens: view.caller.isOperator
        }
    }
}

extension View {
    /// The whole document, or only the part that is wanted.
    ///
    /// - Parameters:
    ///   - isLive: whether the page updates itself.
    ///   - asOf: when its figures were read; nil: now.
    func page(
        _ title: String, at place: Place? = nil, status: Int = 200, isLive: Bool = false, asOf: Timestamp? = nil,
        headers: [(name: String, value: String)] = [], _ content: (inout HTML) throws -> Void
    ) rethrows -> Response {
        var html = HTML(only: part)
        html.zone = zone
        html.doctype()
        try html.tag("html", [.named("lang", language.tag)]) { html in
            self.head(&html, title)
            try html.tag("body", (zone.name.map { [.named("data-zone", $0)] } ?? []) + live(isLive)) { html in
                html.tag("a", [.anchor("main"), .class("skip")], text: say("Skip to the content"))
                banner(&html, place)
                try html.tag("main", [.id("main"), .named("tabindex", "-1")]) { html in
                    html.tag("h1", text: title)
                    try content(&html)
                }
                footer(&html, asOf: asOf ?? now)
            }
        }
        guard let bytes = part == nil ? html.bytes : html.part else {
            var html = HTML(only: nil)
            html.doctype()
            html.tag("p", text: say("There is none on this page."))
            return PageHeaders.response(404, html.bytes)
        }
        // Input that an attacker may have chosen is not compressed together with the form token (BREACH, Gluck et al. 2013,
        // section 3).
        let isTheirs = part == nil && head.target.utf8.contains(UInt8(ascii: "?"))
        guard !isTheirs, PreparedContent.takesGzip(head.headers["accept-encoding"]), let small = Gzip.compressed(bytes)
        else { return PageHeaders.response(status, bytes, more: headers) }
        return PageHeaders.response(status, small, more: headers + [("Content-Encoding", "gzip")])
    }

    private func live(_ isLive: Bool) -> [Attribute] {
        guard isLive, may(.status) else { return [] }
        let events = PagePath("v1", "events").with(
            "after", (try? api.overview()).map { api.live.id(of: $0.revision) })
        return [
            .named("data-events", events.text),
            .named(
                "data-stale", say("The connection to the relay is lost: what is shown may be old. It is tried again.")),
            .named("data-signed-out", say("You are signed out: what is shown is no longer brought up to date.")),
        ]
    }

    private func head(_ html: inout HTML, _ title: String) {
        html.tag("head") { html in
            html.void("meta", [.named("charset", "utf-8")])
            html.tag("title", text: "\(title) · Upgrade Relay")
            html.void(
                "meta", [.named("name", "viewport"), .named("content", "width=device-width, initial-scale=1")])
            html.void("meta", [.named("name", "color-scheme"), .named("content", "light dark")])
            html.void("link", [.named("rel", "stylesheet"), .href(PageAssets.current.style.path)])
            html.void("link", [.named("rel", "icon"), .href(PageAssets.current.icon.path)])
            html.tag("script", [.src(PageAssets.current.script.path), .flag("defer")], text: "")
        }
    }

    private func banner(_ html: inout HTML, _ place: Place?) {
        html.tag("header") { html in
            html.link(.home, "Upgrade Relay", [.class("brand")])
            let places = Place.allCases.filter { $0.isFor(self) }
            if !places.isEmpty {
                html.tag("nav", [.named("aria-label", say("Main"))]) { html in
                    html.tag("ul") { html in
                        for one in places {
                            html.tag("li") { html in
                                html.link(
                                    one.path, one.title(self),
                                    one == place ? [.named("aria-current", "page")] : [])
                            }
                        }
                    }
                }
            }
            html.tag("div", [.class("person")]) { html in
                for other in PageLanguage.allCases where other != language {
                    html.link(
                        PagePath("page", "language", other.rawValue), other.ownName,
                        [.named("lang", other.tag), .named("hreflang", other.tag)])
                }
                guard caller.session != nil else { return }
                html.tag("span", [.class("who")]) { html in html.foreign(caller.actor.name) }
                // The proxy would sign the person in again at once.
                guard caller.person == nil else {
                    return html.tag("span", [.class("quiet")], text: say("signed in by the proxy: sign out there"))
                }
                html.form(self, PagePath("page", "session", "end")) { html in html.button(say("Sign out")) }
            }
        }
        html.tag("p", [.id("connection"), .named("role", "status"), .flag("hidden")]) { html in
            html.tag("span", text: "")
            html.text(" ")
            html.link(.home, say("Sign in"), [.flag("hidden")])
        }
    }

    /// The time of the figures, and the switch of the zone.
    private func footer(_ html: inout HTML, asOf moment: Timestamp) {
        html.tag("footer") { html in
            html.tag("p") { html in
                html.text(say("As of") + " ")
                html.time(moment)
            }
            html.tag("p") { html in
                html.text(say("Time zone") + ": ")
                html.tag("span", [.id("zone")], text: zone.name ?? "UTC")
                for (name, text) in [("UTC", say("Show UTC")), (PageZone.ofBrowser, say("Show the browser's zone"))]
                where name != (zone.name ?? PageZone.ofBrowser) {
                    html.text(" · ")
                    html.link(PagePath("page", "zone").with("zone", name), text, [.named("rel", "nofollow")])
                }
            }
            html.tag("details", [.id("zones")]) { html in
                html.tag("summary", text: say("Another zone"))
                html.tag("form", [.named("method", "get"), .action(PagePath("page", "zone")), .class("filters")]) {
                    html in
                    html.field(
                        say("A zone of the tz database, such as Asia/Shanghai"), name: "zone", value: zone.name ?? "",
                        [.flag("required")])
                    html.button(say("Show"))
                }
            }
        }
    }
}
