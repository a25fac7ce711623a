// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayStore
import Requirements
import Telemetry

/// A request of a person whom a proxy signed in.
struct SignedIn {
    let person: ProxiedPerson
    let caller: Caller
    /// Whether the answer begins the session of `caller.session`.
    var isNew = false
}

extension API {
    /// The rules in force; nil: no proxy signs people in.
    private var identity: ProxyIdentity? {
        guard let identityHeaders, var rules = settings.identity() else { return nil }
        rules.headers = identityHeaders
        return rules
    }

    /// The head with the address of the client behind a trusted proxy.
    func located(_ head: RequestHead) -> RequestHead { identity?.located(head) ?? head }

    /// The person whom the proxy names; nil: it names none.
    ///
    /// - Throws: a 403 or 400 where the headers must not be believed, and where the person has no right at all.
    package func person(of head: RequestHead) throws -> ProxiedPerson? {
        guard let identity else { return nil }
        do throws(ProblemDetails) {
            return try identity.person(in: head)
        } catch {
            refusals.person(head, error)
            throw error
        }
    }

    /// The person, on a route that needs a right: the headers of apps, senders of webhooks and other proxies mean nothing here.
    /// A request that shows an API token has the token's rights.
    func person(of head: RequestHead, _ route: Route) throws -> ProxiedPerson? {
        switch route.right {
        case .nothing, .signature: return nil
        case .scope, .signedIn, .operatorOnly:
            let person = try self.person(of: head)
            return Rights.isToken(head.headers["authorization"]) ? nil : person
        }
    }

    /// The name of the header that a trusted proxy should have sent with the person's name; nil: this request comes by none.
    package func missingName(_ head: RequestHead) -> String? {
        guard head.proxy != nil, let headers = identity?.headers,
            head.headers[headers.lowercased.name]?.isEmpty != false
        else { return nil }
        return headers.name
    }

    /// Finds the person's session, or has a look at a page begin one. Without a session nothing else is answered: its cookie
    /// and form token are what another site cannot use, and a proxy that forgets to remove a stranger's header on some path
    /// lets no stranger in there.
    func signIn(_ person: ProxiedPerson, _ head: RequestHead, _ route: Route) throws -> SignedIn {
        let secret = SessionCookie.secret(in: head, isSecure: isSecure(head))
        // Rights that are gone end the session, too.
        let isGood = try secret.map { try sessions.use($0, by: person) } ?? false
        if person.scopes.isEmpty { throw person.withoutRights(identity?.headers.groups ?? "") }
        func signed(_ session: SessionSecret?, isNew: Bool = false) -> SignedIn {
            SignedIn(person: person, caller: Caller(person, from: head.peer, session: session), isNew: isNew)
        }
        if isGood { return signed(secret) }
        switch (head.method, route.isPage) {
        case ("GET", true): return signed(try SessionSecret.make(), isNew: true)
        case ("HEAD", true): return signed(nil)
        case (_, true):
            throw ProblemDetails(
                403,
                "the session of this form is over, or its rights have changed: load the page again and send it from there"
            )
        default:
            throw Rights.unauthorized(
                "the page's session is missing, over, or another person's: load the page again; a program sends an API token",
                error: nil)
        }
    }

    /// Begins the session of a page that could be shown.
    ///
    /// - Returns: the header field with the cookie.
    func begin(_ signed: SignedIn, _ head: RequestHead) throws -> (name: String, value: String) {
        if let secret = signed.caller.session { try sessions.begin(for: signed.person, secret) }
        settings.log(
            .info, "a proxy signed a person in", [("by", signed.person.actor), ("from", head.peer.description)])
        return SessionCookie.header(signed.caller.session, isSecure: isSecure(head), isOfProxy: true)
    }

    /// The caller of a page, with the rights that count for what its path names: a person's groups may be bound to apps.
    package func caller(of call: Call) -> Caller {
        let (caller, path, name) = (call.caller, call.route.path, call.path.name)
        guard caller.person != nil else { return caller }
        // A person who may not see the app gets the answer of the usual rights: it is not there.
        func on(_ app: AppKey) -> Caller {
            let there = caller.on(app.app)
            return there.maySee(app) ? there : caller
        }
        // A store that cannot be read leaves the usual rights, which hold for each of their apps.
        if path.hasPrefix("/page/campaigns/{id}"), let record = try? store.campaign(id: name) {
            return on(record.app)
        }
        if path.hasPrefix("/page/approvals/{id}"), let id = Int64(name), let approval = try? store.approval(id) {
            return on(approval.app)
        }
        if path == "/page/users/erase" { return caller.with(.devices) }
        if ["/page/users", "/page/devices"].contains(path) { return caller.with(.users) }
        return caller
    }
}
