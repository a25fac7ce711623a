// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements

/// A person's browser that has signed in. The store has a hash of the cookie's secret, never the cookie.
package struct BrowserSession: Hashable, Sendable {
    /// The person who signed in: the API token's name, or the user at the control socket.
    package var actor: String
    /// The SHA-256 of the API token that it began with; nil: it began at the control socket, and has an operator's rights.
    package var token: [UInt8]?
    package var createdAt: Timestamp
    /// When it last sent a request, to the minute.
    package var usedAt: Timestamp
    /// It ends then, however much it is used.
    package var expiresAt: Timestamp

    package init(
        actor: String, token: [UInt8]?, createdAt: Timestamp, usedAt: Timestamp, expiresAt: Timestamp
    ) {
        self.actor = actor
        self.token = token
        self.createdAt = createdAt
        self.usedAt = usedAt
        self.expiresAt = expiresAt
    }
}

/// A valid session, with the present rights of its API token.
package struct LiveSession: Hashable, Sendable {
    package var session: BrowserSession
    /// nil: an operator's.
    package var token: AccessToken?

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
    /// Adds a session, and deletes those that are over. An API token, or an operator without one, keeps only the `most`
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
