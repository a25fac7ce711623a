// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayStore
package import Requirements
import Signing
import Threading
import WireFormat

/// The right that a route requires of its caller (CONTRACT, "right").
package enum Right: Hashable, Sendable {
    case nothing
    /// A webhook's signature, checked with the body.
    case signature
    case scope(Scope)
    /// Any API token, whatever it allows: its scopes limit what is shown and done.
    case signedIn
    /// Only the control socket: an API token must not be able to make more of its kind.
    case operatorOnly
}

/// The caller of a request, as the history names it.
package struct Caller: Hashable, Sendable {
    package var actor: Principal
    /// The apps that it may see and change; nil: all.
    package var apps: Set<String>?
    /// The SHA-256 of its API token; nil where it needs none.
    package var token: [UInt8]?
    /// The scopes of that token; nil: everything is allowed.
    package var scopes: Set<Scope>?
    /// The secret in its cookie; nil: it shows an API token itself, or came by the control socket.
    package var session: SessionSecret?
    /// The person whom a proxy signed in; nil: another kind of caller.
    package var person: ProxiedPerson?

    /// Whether it has the rights of the control socket's users.
    package var isOperator: Bool { scopes == nil }

    package func may(_ scope: Scope) -> Bool { scopes?.contains { $0.covers(scope) } ?? true }

    /// The keys by which event streams are counted: the caller itself and each app that it is bound to, so that a team gets
    /// no more streams by using more tokens.
    var places: [String] { ["by \(actor.name)"] + (apps ?? []).map { "of \($0)" } }

    /// - Throws: a 403 with the scope and the reason why it is needed.
    func need(_ scope: Scope, _ why: String) throws {
        guard !may(scope) else { return }
        throw Rights.forbidden("\(why): it needs the scope \"\(scope.rawValue)\", which \(lacking)", scope)
    }

    /// The end of a sentence about a scope.
    fileprivate var lacking: String {
        guard let person else { return "the token \"\(actor.name)\" lacks" }
        return person.groups.isEmpty
            ? "\"\(actor.name)\" lacks: the proxy sent no group"
            : "none of the groups of \"\(actor.name)\" gives: \(person.shownGroups)"
    }

    package func maySee(_ app: String) -> Bool { apps?.contains(app) ?? true }
    package func maySee(_ app: AppKey) -> Bool { maySee(app.app) }

    /// The caller of an open route: it is not known, and has no rights.
    package static let anonymous = Caller(actor: Principal("anonymous", .token, via: "api"), apps: [], scopes: [])
    static let webhook = Caller(actor: Principal("webhook", .webhook, via: "webhook"))

    /// - Parameters:
    ///   - user: the user of the process at the other end; nil where the system does not report it.
    ///   - person: the person for whom the process claims to act.
    static func operatorOnSocket(user: UInt32?, for person: ActedFor? = nil) throws -> Caller {
        let own = user.map(SystemUser.shown) ?? "operator"
        guard let person, user == 0 || !person.isLogin else { return Caller(actor: .operator(own)) }
        guard user == 0 else { throw Rights.forbidden("\(ActedFor.rootAlone); this process runs as \(own)", nil) }
        if let fault = person.fault {
            throw ProblemDetails(400, "the name of the person that root acts for \(fault)")
        }
        return Caller(actor: .operator("\(own) for \(person.name)"))
    }
}

enum Rights {
    /// Decides whether a request may go on. Pure but for `look`.
    ///
    /// - Parameters:
    ///   - app: the app of the path; nil where the path has none.
    ///   - user: the user of the process at the other end of the control socket.
    ///   - peer: the address that the request comes from.
    ///   - person: reads the person for whom the caller claims to act.
    ///   - session: finds the session of the request's cookie, if it has one.
    ///   - look: finds the token by its SHA-256.
    static func caller(
        for right: Right, app: String? = nil, door: Door, user: UInt32? = nil, peer: PeerAddress = .none,
        authorization: String?, person: () -> ActedFor? = { nil },
        session: () throws -> (SessionSecret, LiveSession)? = { nil },
        look: ([UInt8]) throws -> AccessToken?
    ) throws -> Caller {
        if right == .signature { return .webhook }
        // The user's name is not looked up for an open route.
        if door == .control {
            return right == .nothing
                ? try .operatorOnSocket(user: nil) : try .operatorOnSocket(user: user, for: person())
        }
        if right == .nothing { return .anonymous }
        if person()?.isLogin == false {
            throw forbidden("\(ActedFor.rootAlone); here the API token is the name", nil)
        }
        if authorization == nil, let (secret, live) = try session() {
            var caller = Caller(
                actor: Principal(live.session.actor, .session, via: "page", from: peer.description))
            caller.session = secret
            switch live.holder {
            case .operator:
                if right == .operatorOnly { throw controlSocketOnly }
                return caller
            case .token(let token):
                (caller.apps, caller.token, caller.scopes) = (token.apps, live.session.token, token.scopes)
                return try caller.allowed(right, app)
            // Its cookie alone has no rights: the proxy's headers have to come with it (`ProxyIdentity`).
            case .person: break
            }
        }
        guard let authorization else {
            throw unauthorized("an API token is needed: send \"Authorization: Bearer urt_…\"", error: nil)
        }
        guard let secret = bearer(authorization) else {
            throw unauthorized(
                "the header Authorization must be \"Bearer\" and an API token, such as \"Bearer urt_…\"",
                error: "invalid_request")
        }
        let hash = SHA256.digest(Array(secret.utf8))
        guard let token = try look(hash) else {
            throw unauthorized(
                "this API token is unknown or revoked; an operator makes one with \"upgrade-relay tokens create\"",
                error: "invalid_token")
        }
        let actor = Principal(token.name, .token, via: "api", from: peer.description)
        return try Caller(actor: actor, apps: token.apps, token: hash, scopes: token.scopes)
            .allowed(right, app)
    }

    /// Whether the header shows an API token. A proxy that signs people in may send credentials of its own there.
    static func isToken(_ authorization: String?) -> Bool {
        authorization.flatMap(bearer)?.hasPrefix("urt_") ?? false
    }

    /// RFC 9110 section 11.1: the scheme is case-insensitive. RFC 6750 section 2.1: one token68 follows.
    private static func bearer(_ header: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    /// RFC 6750 section 3: the challenge; no error code where the request had no credentials at all.
    static func unauthorized(_ detail: String, error: String?) -> ProblemDetails {
        let challenge = "Bearer realm=\"upgrade-relay\"" + (error.map { ", error=\"\($0)\"" } ?? "")
        return ProblemDetails(401, detail, headers: [("WWW-Authenticate", challenge)])
    }

    fileprivate static let controlSocketOnly = forbidden(
        "API tokens and the store are looked after over the control socket only", nil)

    fileprivate static func forbidden(_ detail: String, _ scope: Scope?) -> ProblemDetails {
        var headers: [(String, String)] = []
        if let scope {
            let challenge = "Bearer realm=\"upgrade-relay\", error=\"insufficient_scope\", scope=\"\(scope.rawValue)\""
            headers.append(("WWW-Authenticate", challenge))
        }
        return ProblemDetails(403, detail, headers: headers)
    }
}

extension Caller {
    /// A person whom a proxy signed in.
    ///
    /// - Parameter session: the secret of the person's session; nil: the route needs none.
    init(_ person: ProxiedPerson, from peer: PeerAddress, session: SessionSecret?) {
        self.init(
            actor: Principal(person.actor, .session, via: "page", from: peer.description),
            apps: person.grants.usual.apps, scopes: person.grants.usual.scopes, session: session, person: person)
    }

    /// The caller with the rights that count for a request.
    ///
    /// - Parameter app: the app of the request's path; nil: it has none.
    /// - Throws: a 403 where its scopes or its apps do not allow it.
    func allowed(_ right: Right, _ app: String?) throws -> Caller {
        var caller = self
        switch right {
        case .nothing, .signature, .signedIn: break
        case .scope(let scope):
            caller = with(scope)
            guard caller.may(scope) else {
                throw Rights.forbidden("this needs the scope \"\(scope.rawValue)\", which \(lacking)", scope)
            }
        case .operatorOnly: throw Rights.controlSocketOnly
        }
        guard let app else { return caller }
        // Another scope of a person may hold for this app.
        if right == .signedIn { caller = on(app) }
        guard caller.maySee(app) else {
            let whose = person == nil ? "the token \"\(actor.name)\" is" : "the groups of \"\(actor.name)\" are"
            throw Rights.forbidden("\(whose) bound to other apps", nil)
        }
        return on(app)
    }
}
