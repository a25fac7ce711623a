// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI

/// Signs browsers in and out with cookies.
enum PageSessions {
    static func signIn(_ api: API, _ call: Call, _ fields: FormFields) throws -> Response {
        let view = View(api, call.head)
        try refuse(whomAProxySignsIn: call.head, api, view)
        // Another site must not sign a person in with a token of its own (OWASP, "Login CSRF").
        guard SessionCookie.isSameOrigin(call.head) else {
            throw ProblemDetails(403, view.say("Sign in on this server's own page."))
        }
        let goal = fields.exact("to").flatMap(PagePath.init(view:)) ?? PagePath(referer: call.head)
        guard let token = fields["token"], let secret = try api.sessions.begin(with: token) else {
            return view.signIn(status: 401, to: goal, fault: view.say("This API token is unknown or revoked."))
        }
        return PageHeaders.redirect(to: goal ?? .home, more: [api.cookie(secret, for: call.head)])
    }

    static func signOut(_ api: API, _ call: Call, _ fields: FormFields) throws -> Response {
        if let secret = call.caller.session { try api.sessions.end(secret) }
        return PageHeaders.redirect(to: .home, more: [api.cookie(nil, for: call.head)])
    }

    /// Follows a link of `upgrade-relay page`.
    static func enter(_ api: API, _ call: Call) throws -> Response {
        let view = View(api, call.head)
        try refuse(whomAProxySignsIn: call.head, api, view)
        // The same check as for signing in with a token.
        guard SessionCookie.isSameOrigin(call.head) else {
            throw ProblemDetails(403, view.say("Sign in on this server's own page."))
        }
        guard let secret = try api.sessions.follow(link: call.path.name) else { return view.usedLink() }
        return PageHeaders.redirect(to: .home, more: [api.cookie(secret, for: call.head)])
    }

    /// Where a proxy signs a person in, its name counts: what another session did would stand under the wrong one.
    private static func refuse(whomAProxySignsIn head: RequestHead, _ api: API, _ view: View) throws {
        guard let person = try api.person(of: head) else { return }
        throw ProblemDetails(
            409,
            view.say(
                "The proxy signs you in as “%”, and that name counts here. For an API token or a link, open the relay's own address.",
                person.name))
    }

    /// Remembers the language that was chosen.
    static func chooseLanguage(_ call: Call) throws -> Response {
        guard let language = PageLanguage(rawValue: call.path.name) else {
            throw ProblemDetails(404, "the page's languages are en and zh")
        }
        return remember(PageLanguage.cookie, language.rawValue, call)
    }

    /// Remembers the zone that was chosen.
    static func chooseZone(_ api: API, _ call: Call) throws -> Response {
        var query = call.query
        let chosen = query.text("zone")
        try query.finish()
        guard let zone = chosen.flatMap(PageZone.init(named:)) else {
            throw ProblemDetails(
                404, View(api, call.head).say("There is no such time zone. Take one such as Asia/Shanghai."))
        }
        return remember(PageZone.cookie, zone.name ?? PageZone.ofBrowser, call)
    }

    /// A choice of the reader's is kept for a year, and leads back to the view where it was made.
    private static func remember(_ cookie: String, _ value: String, _ call: Call) -> Response {
        PageHeaders.redirect(
            to: PagePath(referer: call.head) ?? .home,
            more: [("Set-Cookie", "\(cookie)=\(value); Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly")])
    }
}

extension PagePath {
    /// The view whose link or form leads here (RFC 9110, section 10.1.3); nil: none that can be led back to. An answer to a reader
    /// without rights does not repeat the address that was asked for, so that the view is not in its links.
    fileprivate init?(referer head: RequestHead) {
        guard let address = head.headers["referer"], let scheme = address.firstRange(of: "://"),
            let path = address[scheme.upperBound...].firstIndex(of: "/")
        else { return nil }
        self.init(view: String(address[path...]))
    }
}
