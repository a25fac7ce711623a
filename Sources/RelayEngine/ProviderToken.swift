// SPDX-License-Identifier: Apache-2.0

/// A signed provider token (JWT). It is kept across restarts, so that a restart loop does not sign one each time (PROTOCOLS 1.4: at
/// most one in 20 minutes), and for every relay that has the key.
package struct ProviderToken: Hashable, Sendable {
    /// The JWT, without "bearer".
    package var text: String
    package var issuedAt: Timestamp
    /// Until when the push service wants no other token of this key, and no pushes with this one (PROTOCOLS 1.6,
    /// TooManyProviderTokenUpdates); it may be past. nil: it never minded this one.
    package var pausedUntil: Timestamp?
    /// Which server wants that; nil: all of them.
    package var pausedBy: String?

    package init(text: String, issuedAt: Timestamp, pausedUntil: Timestamp? = nil, pausedBy: String? = nil) {
        self.text = text
        self.issuedAt = issuedAt
        self.pausedUntil = pausedUntil
        self.pausedBy = pausedBy
    }

    /// The token alone.
    package var unpaused: ProviderToken { ProviderToken(text: text, issuedAt: issuedAt) }

    /// A server wants a pause. One that goes on is never shortened; where a second server says so meanwhile, it is all of theirs (see
    /// `CredentialPause`).
    ///
    /// - Returns: whether that changes anything.
    package mutating func pause(until time: Timestamp, by server: String?, at now: Timestamp) -> Bool {
        let before = self
        if let end = pausedUntil, ProviderTokenMachine.isPaused(until: end, at: now) {
            if pausedBy != server { pausedBy = nil }
            pausedUntil = max(end, time)
        } else {
            (pausedUntil, pausedBy) = (time, server)
        }
        return self != before
    }
}
