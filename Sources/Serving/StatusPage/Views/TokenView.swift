// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayStore
import Requirements

/// API tokens: for operators, who may open the control socket.
extension View {
    func needOperator() throws {
        guard caller.isOperator else {
            throw ProblemDetails(
                403, say("API tokens are shown to operators alone: sign in with the link of “upgrade-relay page”."))
        }
    }

    func tokens(_ query: inout Query) throws -> Response {
        try needOperator()
        let name = query.filledText("name")
        let state = query.choice("state", of: ["good", "revoked"]) { $0 }
        let numbers = (tokens: Self.pageNumber(in: &query, "tokens"), sessions: Self.pageNumber(in: &query, "sessions"))
        try query.finish()
        func isNamed(_ text: String) -> Bool { name.map { text.lowercased().contains($0.lowercased()) } ?? true }
        let tokens = ListSlice(
            try api.store.tokens().filter { token in
                isNamed(token.name) && state.map { ($0 == "revoked") == (token.revokedAt != nil) } ?? true
            }, page: numbers.tokens)
        let sessions = ListSlice(
            try api.sessions.all().filter { isNamed($0.live.session.actor) }, page: numbers.sessions)
        let list = PagePath("page", "tokens").with("name", name).with("state", state)
        return page(say("API tokens"), at: .tokens) { html in
            filters(&html, PagePath("page", "tokens")) { html in
                html.field(say("Name"), name: "name", value: name ?? "")
                html.choice(
                    say("State"), name: "state", chosen: state ?? "",
                    of: [("", say("Any")), ("good", say("valid")), ("revoked", say("revoked"))])
            }
            html.tag("section", [.id("tokens"), .named("aria-label", say("API tokens"))]) { html in
                html.table(
                    say("API tokens"),
                    [
                        say("Name"), say("Allows"), say("Apps"), say("Made"), say("Last use"), say("Revoked"),
                        say("Actions"),
                    ]
                ) { html in
                    for token in tokens.items { row(&html, token) }
                }
                if tokens.items.isEmpty { html.tag("p", [.class("quiet")], text: say("There is none.")) }
                pages(&html, tokens, list, "tokens", at: "tokens")
            }
            html.tag("p") { html in
                html.text(say("This makes one:") + " ")
                html.tag("code", text: "upgrade-relay tokens create --name ci --scope versions")
            }
            html.tag("section", [.id("sessions"), .named("aria-labelledby", "sessions-title")]) { html in
                html.tag("h2", [.id("sessions-title")], text: say("Browsers that are signed in"))
                html.table(
                    say("Browsers that are signed in"),
                    [say("Name"), say("Allows"), say("Signed in"), say("Last use"), say("Ends"), say("Actions")]
                ) { html in
                    for session in sessions.items { row(&html, session) }
                }
                pages(&html, sessions, list, "sessions", at: "sessions")
            }
        }
    }

    private func row(_ html: inout HTML, _ token: AccessToken) {
        html.row(
            { $0.foreign(token.name) },
            [
                { $0.text(Scope.allCases.filter(token.scopes.contains).map(\.rawValue).joined(separator: ", ")) },
                { $0.foreign(token.apps?.sorted().joined(separator: ", ") ?? say("all")) },
                { $0.time(token.createdAt) }, { $0.time(token.usedAt) }, { $0.time(token.revokedAt) },
                { html in
                    guard token.revokedAt == nil else { return html.text("–") }
                    html.link(
                        PagePath("page", "tokens", token.name, "revoke"), say("Revoke"), [.class("button danger")])
                },
            ])
    }

    private func row(_ html: inout HTML, _ listed: ListedSession) {
        let session = listed.live.session
        html.row(
            { $0.foreign(session.actor) },
            [
                { html in
                    let scopes = listed.live.scopes.map { Scope.allCases.filter($0.contains).map(\.rawValue) }
                    html.text(scopes?.joined(separator: ", ") ?? say("all"))
                },
                { $0.time(session.createdAt) }, { $0.time(session.usedAt) }, { $0.time(session.expiresAt) },
                { html in
                    html.link(PagePath("page", "sessions", listed.id, "end"), say("End"), [.class("button danger")])
                },
            ])
    }

    func confirmEnding(_ id: String) throws -> Response {
        try needOperator()
        guard let listed = try api.sessions.all().first(where: { $0.id == id }) else {
            throw ProblemDetails(404, say("This session is over."))
        }
        let name = listed.live.session.actor
        return page(say("End the session of %", name), at: .tokens) { html in
            if case .person = listed.live.holder {
                html.tag(
                    "p",
                    text: say("The proxy signs this person in again with the next look: sign the person out there."))
            } else {
                html.tag("p", text: say("The browser has to sign in again before it is shown anything."))
            }
            html.tag("p") { html in
                html.text(say("Signed in") + " ")
                html.time(listed.live.session.createdAt)
            }
            html.form(self, PagePath("page", "sessions", id, "end")) { html in
                buttons(
                    &html, say("End the session of %", name), isDangerous: true, back: PagePath("page", "tokens"))
            }
        }
    }

    func end(session id: String) throws -> Response {
        try needOperator()
        _ = try api.endSession(id: id, by: caller)
        return PageHeaders.redirect(to: PagePath("page", "tokens"))
    }

    func confirmRevoking(_ name: String, stale: Stale? = nil) throws -> Response {
        try needOperator()
        let shown = try api.shown(.accessToken(name))
        return page(say("Revoke %", name), at: .tokens, status: stale == nil ? 200 : 409) { html in
            notice(&html, stale)
            html.tag(
                "p",
                text: say(
                    "Requests with this token are refused from now on, and every session that began with it ends.")
            )
            html.form(self, PagePath("page", "tokens", name, "revoke")) { html in
                html.carries(.revokeToken, shown)
                buttons(&html, say("Revoke %", name), isDangerous: true, back: PagePath("page", "tokens"))
            }
        }
    }

    func revoke(_ name: String, _ fields: FormFields) throws -> Response {
        try needOperator()
        return try perform(.revokeToken, fields) { caller in
            _ = try api.revokeToken(name, by: caller)
            return PageHeaders.redirect(to: PagePath("page", "tokens"))
        } again: {
            try confirmRevoking(name, stale: $0)
        }
    }
}
