// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements

/// A person's browser that has signed in. The store has a hash of the cookie's secret, never the cookie.
package struct BrowserSession: Hashable, Sendable {
    /// The person who signed in: the API token's name, the user at the control socket, or the name that a proxy gave.
    package var actor: String
    /// The SHA-256 of the API token that it began with. A proxy's person has another digest here, that of no token. nil: it
    /// began at the control socket, and has an operator's rights.
    package var token: [UInt8]?
    /// The rights of a person whom a proxy signed in; nil: those of the API token, or of an operator.
    package var scopes: Set<Scope>?
    package var createdAt: Timestamp
    /// When it last sent a request, to the minute.
    package var usedAt: Timestamp
    /// It ends then, however much it is used.
    package var expiresAt: Timestamp

    package init(
        actor: String, token: [UInt8]?, scopes: Set<Scope>? = nil, createdAt: Timestamp, usedAt: Timestamp,
        expiresAt: Timestamp
    ) {
        self.actor = actor
        self.token = token
        self.scopes = scopes
        self.createdAt = createdAt
        self.usedAt = usedAt
        self.expiresAt = expiresAt
    }
}

/// A valid session, with the present rights of its API token.
package struct LiveSession: Hashable, Sendable {
    /// The source of its rights.
    package enum Holder: Hashable, Sendable {
        case `operator`
        case token(AccessToken)
        /// A person whom a proxy signed in: the rights hold only with a request in which the proxy names that person.
        case person(Set<Scope>)
    }

    package var session: BrowserSession
    /// nil: an operator's, or that of a proxy's person.
    package var token: AccessToken?

    package var holder: Holder {
        if let scopes = session.scopes { return .person(scopes) }
        return token.map(Holder.token) ?? .operator
    }

    package init(session: BrowserSession, token: AccessToken?) {
        self.session = session
        self.token = token
    }
}

/// One session of a list.
package struct ListedSession: Hashable, Sendable {
    /// The SHA-256 of its secret.
    package var hash: [UInt8]
    package var live: LiveSession

    package init(hash: [UInt8], live: LiveSession) {
        self.hash = hash
        self.live = live
    }
}

package protocol SessionStore: Sendable {
    /// Adds a session, and deletes those that are over. An API token, an operator, or a proxy's person keeps only the `most`
    /// sessions that began last.
    func addSession(_ session: BrowserSession, hash: [UInt8], most: Int) throws

    /// All sessions that are not over at `now`, and whose API tokens are valid; the newest first.
    func sessions(at now: Timestamp) throws -> [ListedSession]

    /// The session with this SHA-256, however old; nil: there is none, or its API token was revoked.
    func session(hash: [UInt8]) throws -> LiveSession?

    func noteUse(ofSession hash: [UInt8], at now: Timestamp) throws

    /// Signs a browser out at its own request. False where there is no such session.
    @discardableResult
    func endSession(hash: [UInt8]) throws -> Bool

    /// Ends a session at another person's request, which the audit trail records. False where there is no such session.
    func endSession(hash: [UInt8], by actor: Signature) throws -> Bool
}
