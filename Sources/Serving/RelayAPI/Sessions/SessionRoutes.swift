// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayEngine
package import RelayStore
import Requirements
import WireFormat

extension API {
    /// The header field that sets a browser's session cookie; a nil secret deletes it. The cookie is `Secure` where the
    /// browser uses TLS to the relay, or to a proxy according to the proxy's headers.
    package func cookie(_ secret: SessionSecret?, for head: RequestHead) -> (name: String, value: String) {
        SessionCookie.header(secret, isSecure: isSecure(head))
    }

    /// Whether the browser at the other end uses TLS, to the relay or to a proxy before it.
    func isSecure(_ head: RequestHead) -> Bool {
        head.door == .network && settings.server.identity != nil || ForwardedProtocol.isTLS(head)
    }

    /// Begins a browser's session for the caller's API token.
    func beginSession(_ call: Call) throws -> Response {
        guard let token = call.caller.token, call.caller.session == nil else {
            throw ProblemDetails(
                409, "a session is begun with an API token; at the control socket `upgrade-relay page` prints a link")
        }
        let secret = try sessions.begin(for: call.caller.actor.name, token: token)
        let begun = BegunSession(caller: call.caller, expiresAt: now() + Sessions.life, formToken: secret.formToken)
        var response = Response.json(201) { $0.object(begun, BegunSession.shape) }
        response.headers.append(cookie(secret, for: call.head))
        return response
    }

    func endSession(_ call: Call) throws -> Response {
        guard let secret = call.caller.session else {
            throw ProblemDetails(409, "this request came with no session's cookie: there is nothing to end")
        }
        try sessions.end(secret)
        var response = Response.noContent
        response.headers.append(cookie(nil, for: call.head))
        return response
    }

    /// Every browser that is signed in.
    func listSessions() throws -> Response {
        let sessions = try sessions.all()
        return .json { $0.page(sessions, next: nil) { $0.object($1, ListedSession.shape) } }
    }

    package func endSession(id: String, by caller: Caller) throws -> Response {
        guard try sessions.end(id: id, by: Signature(by: caller.actor, at: now())) else {
            throw ProblemDetails(404, "there is no session \"\(JSONValue.shortened(id))\", or it is over")
        }
        return .noContent
    }

    /// A link that signs a browser in, once.
    func makeSessionLink(_ call: Call) throws -> Response {
        guard settings.servesPage else {
            throw ProblemDetails(409, "the page is switched off: listen.page is false")
        }
        let (secret, until) = try sessions.makeLink(for: call.caller.actor.name)
        let path = "/page/enter/\(secret)"
        let link = SessionLink(url: settings.server.origin.map { $0 + path }, path: path, expiresAt: until)
        return .json(201) { $0.object(link, SessionLink.shape) }
    }
}

/// A browser's session that has just begun.
struct BegunSession {
    let caller: Caller
    let expiresAt: Timestamp
    let formToken: String

    static let shape = Shape<BegunSession>(
        "Session", "A browser that is signed in.",
        [
            .member(.name, .text, "The API token's name.") { $0.caller.actor.name },
            .member(.scopes, Scope.schema) { session in
                Scope.allCases.filter { session.caller.may($0) }.map(\.rawValue)
            },
            .nullable(.apps, .list(of: .text), "The apps that the API token is bound to; null: all.") {
                $0.caller.apps?.sorted()
            },
            .member(.expiresAt, .anyInstant) { $0.expiresAt },
            .member(.formToken, .text, "The value that each change by the session carries in X-Form-Token.") {
                $0.formToken
            },
        ])
}

/// A link that signs a browser in, once.
struct SessionLink {
    let url: String?
    let path: String
    let expiresAt: Timestamp

    static let shape = Shape<SessionLink>(
        "SessionLink", "A link that signs in once.",
        [
            .nullable(.url, .text, "The relay's own address; null: it does not listen on TCP.") { $0.url },
            .member(.path, .text) { $0.path },
            .member(.expiresAt, .anyInstant) { $0.expiresAt },
        ])
}

extension LiveSession {
    /// nil: an operator's, which has all.
    package var scopes: Set<Scope>? {
        switch holder {
        case .operator: nil
        case .token(let token): token.scopes
        case .person(let scopes): scopes
        }
    }
}

extension ListedSession {
    static let shape = Shape<ListedSession>(
        "ListedSession", "A browser that is signed in.",
        [
            .member(.id, .text.matching("^[0-9a-f]{16}$")) { $0.id },
            .member(
                .name, .text,
                "The API token's name, the user who printed the link, or `proxy:` and the name that a proxy gave."
            ) { $0.live.session.actor },
            .nullable(
                .scopes, Scope.schema,
                "The scopes of its API token, or of the groups of a proxy's person; null: an operator's session, which may do everything but what is the control socket's alone."
            ) { $0.live.scopes.map(Scope.names) },
            .member(.createdAt, .instant) { $0.live.session.createdAt },
            .member(.usedAt, .instant) { $0.live.session.usedAt },
            .member(.expiresAt, .instant) { $0.live.session.expiresAt },
        ])
}
