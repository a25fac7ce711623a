// SPDX-License-Identifier: Apache-2.0

/// A signed provider token (JWT). It is kept across restarts, so that a restart loop does not sign one each time (PROTOCOLS
/// 1.4: at most one in 20 minutes), and shared by all relays that have the key.
package struct ProviderToken: Hashable, Sendable {
    /// The JWT, without "bearer".
    package var text: String
    package var issuedAt: Timestamp
    /// Until when the push service accepts no other token of this key, and no pushes with this one (PROTOCOLS 1.6,
    /// TooManyProviderTokenUpdates); it may be past. nil: it never objected to this one.
    package var pausedUntil: Timestamp?
    /// The server that asked for the pause; nil: all servers.
    package var pausedBy: String?

    package init(text: String, issuedAt: Timestamp, pausedUntil: Timestamp? = nil, pausedBy: String? = nil) {
        self.text = text
        self.issuedAt = issuedAt
        self.pausedUntil = pausedUntil
        self.pausedBy = pausedBy
    }

    /// The token without its pause.
    package var unpaused: ProviderToken { ProviderToken(text: text, issuedAt: issuedAt) }

    /// Notes a pause that a server asks for. A pause in force is never shortened; if a second server asks during it, it applies
    /// to all servers (see `CredentialPause`).
    ///
    /// - Returns: whether that changed anything.
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
