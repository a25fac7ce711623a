// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayEngine
import RelayStore
import WireFormat

extension API {
    /// The field that gives a browser its session's cookie; nil takes it away. It is `Secure` where TLS is spoken here, or to a
    /// proxy according to its headers.
    package func cookie(_ secret: SessionSecret?, for head: RequestHead) -> (name: String, value: String) {
        SessionCookie.header(secret, isSecure: isSecure(head))
    }

    /// Whether the browser at the other end speaks TLS, to the relay or to a proxy before it.
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
        var response = Response.json(201) { writer in
            writer.object { writer in
                writer.member(.name, call.caller.actor.name)
                writer.member(.scopes, Scope.allCases.filter(call.caller.may).map(\.rawValue))
                writer.member(.apps, call.caller.apps?.sorted())
                writer.member(.expiresAt, self.now() + Sessions.life)
                writer.member(.formToken, secret.formToken)
            }
        }
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
        return .json { writer in
            writer.page(sessions, next: nil) { writer, listed in
                let (session, token) = (listed.live.session, listed.live.token)
                writer.object { writer in
                    writer.members([.id: listed.id, .name: session.actor])
                    writer.member(
                        .scopes, token.map { token in Scope.allCases.filter(token.scopes.contains).map(\.rawValue) })
                    writer.members([
                        .createdAt: session.createdAt, .usedAt: session.usedAt, .expiresAt: session.expiresAt,
                    ])
                }
            }
        }
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
        return .json(201) { writer in
            writer.object([.url: settings.server.origin.map { $0 + path }, .path: path, .expiresAt: until])
        }
    }
}
