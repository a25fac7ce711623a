// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// A person's browser that has signed in. The store has a hash of what its cookie says, never the cookie.
package struct BrowserSession: Hashable, Sendable {
    /// Who signed in: the API token's name, or the user at the control socket.
    package var actor: String
    /// The SHA-256 of the API token that it began with; nil: it began at the control socket, and has an operator's rights.
    package var token: [UInt8]?
    package var createdAt: Timestamp
    /// When it last asked for something, to the minute.
    package var usedAt: Timestamp
    /// However much it is used.
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

/// A session that is good, with what its API token allows now.
package struct LiveSession: Hashable, Sendable {
    package var session: BrowserSession
    /// nil: an operator's.
    package var token: AccessToken?

    package init(session: BrowserSession, token: AccessToken?) {
        self.session = session
        self.token = token
    }
}

/// One of a list.
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
    /// Those that are over go with the same transaction; and of its API token's, or, where it has none, its operator's, all but the
    /// `most` that began last.
    func addSession(_ session: BrowserSession, hash: [UInt8], most: Int) throws

    /// All that are not over at a moment, and whose API tokens are good; the newest first.
    func sessions(at now: Timestamp) throws -> [ListedSession]

    /// The session with this SHA-256, however old; nil: there is none, or its API token was revoked.
    func session(hash: [UInt8]) throws -> LiveSession?

    func noteUse(ofSession hash: [UInt8], at now: Timestamp) throws

    /// Whoever has it signs out. False where there is none.
    @discardableResult
    func endSession(hash: [UInt8]) throws -> Bool

    /// Somebody else ends it, which the audit trail says. False where there is none.
    func endSession(hash: [UInt8], by actor: Signature) throws -> Bool
}
