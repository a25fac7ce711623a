// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI

/// The pages for signing in and out, and for errors.
extension View {
    /// - Parameters:
    ///   - to: the view that is shown once signing in has worked; nil: the first one.
    ///   - fault: why signing in failed just now.
    func signIn(status: Int, to goal: PagePath? = nil, fault: String? = nil) -> Response {
        page(say("Sign in"), status: status, headers: [("WWW-Authenticate", "Bearer realm=\"upgrade-relay\"")]) {
            html in
            html.tag("p", text: say("This page shows what you may see with an API token."))
            if let header = api.missingName(head) {
                html.tag("p", [.class("notice")]) { html in
                    html.text(
                        say(
                            "The proxy before this relay has signed no one in: it sent no name in the header %.", header
                        ))
                }
            }
            html.tag("form", [.named("method", "post"), .action(PagePath("page", "session")), .class("narrow")]) {
                html in
                if let goal { html.hidden("to", goal.text) }
                html.field(
                    say("API token"), name: "token",
                    hint: say("It begins with “urt_”. An operator makes one with “upgrade-relay tokens create”."),
                    fault: fault,
                    [.named("type", "password"), .flag("required"), .named("spellcheck", "false")])
                html.tag("p", [.class("buttons")]) { $0.button(say("Sign in")) }
            }
            html.tag("p") { html in
                html.text(say("On the relay's own machine this prints a link that signs in once:") + " ")
                html.tag("code", text: "upgrade-relay page")
            }
        }
    }

    /// The page that a link of `upgrade-relay page` opens. Fetching it does not use the link up, a person's click does.
    func entrance(link: String) -> Response {
        guard api.sessions.isGood(link: link) else { return usedLink() }
        return page(say("Sign in")) { html in
            html.tag("p", text: say("This link signs one browser in, once, with an operator's rights."))
            html.tag("form", [.named("method", "post"), .action(PagePath("page", "enter", link)), .class("narrow")]) {
                html in html.tag("p", [.class("buttons")]) { $0.button(say("Sign in")) }
            }
        }
    }

    func usedLink() -> Response {
        signIn(
            status: 401, fault: say("This link was used before, or is too old. “upgrade-relay page” prints another."))
    }

    /// A problem of the API (RFC 9457) as a page.
    func problem(_ problem: ProblemDetails) -> Response {
        // A person who has not signed in is asked to, and learns nothing else.
        if problem.status == 401 { return signIn(status: 401) }
        if problem.status == 403, let person = try? api.person(of: head), person.scopes.isEmpty {
            return withoutRights(person)
        }
        return page(
            say("This did not work"), status: problem.status, headers: problem.headers.map { (name: $0.0, value: $0.1) }
        ) { html in
            html.tag("div", [.class("notice bad"), .named("role", "alert")]) { html in
                html.tag("p") { reason(&$0, problem.detail) }
            }
            html.tag("p") { $0.link(.home, say("Back to the overview")) }
        }
    }

    /// The page for a person whom a proxy signed in, and whose groups give no right.
    private func withoutRights(_ person: ProxiedPerson) -> Response {
        page(say("You have no right here"), status: 403) { html in
            html.tag("div", [.class("notice bad"), .named("role", "alert")]) { html in
                html.tag("p") { html in
                    html.text(say("The proxy signed you in as") + " ")
                    html.foreign(person.name)
                    html.text(".")
                }
                html.tag("p") { html in
                    html.text(say("It sent these groups, and none has a right here:") + " ")
                    html.foreign(groups(of: person))
                }
            }
            html.tag("p") { html in
                html.text(say("An operator gives a group its rights in the configuration:") + " ")
                html.tag("code", text: "listen.page.identity.rights")
            }
        }
    }

    /// The groups that a proxy sent with a person, by their whole names: an operator has to write them.
    func groups(of person: ProxiedPerson) -> String {
        guard !person.groups.isEmpty else { return say("none") }
        return person.firstGroups { "“\($0)”" }
    }
}
