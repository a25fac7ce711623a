// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// A right that an API token can carry (CONTRACT, "right"). The raw values are on the wire.
package enum Scope: String, Sendable, Hashable, CaseIterable {
    case status
    case versions
    case devices
    case campaigns
}

/// An API token as the store keeps it: only a hash of the secret.
package struct AccessToken: Hashable, Sendable {
    package var name: String
    package var scopes: Set<Scope>
    /// The apps that it is bound to, on every platform; nil: all.
    package var apps: Set<String>?
    package var createdAt: Timestamp
    package var revokedAt: Timestamp?

    package init(
        name: String, scopes: Set<Scope>, apps: Set<String>? = nil, createdAt: Timestamp, revokedAt: Timestamp?
    ) {
        self.name = name
        self.scopes = scopes
        self.apps = apps
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}

package protocol AccessTokenStore: Sendable {
    /// - Throws: `StoreError.nameTaken` when a token of that name exists, revoked or not.
    func addToken(_ token: AccessToken, hash: [UInt8]) throws

    /// The token with this SHA-256, unless revoked.
    func token(hash: [UInt8]) throws -> AccessToken?

    func tokens() throws -> [AccessToken]

    /// False when there is no such token or it is revoked already.
    func revokeToken(name: String, at now: Timestamp) throws -> Bool
}

/// A provider token (JWT) that is kept across restarts, so that a restart loop does not mint one each time
/// (PROTOCOLS 1.4: at most one in 20 minutes).
package struct StoredProviderToken: Hashable, Sendable {
    /// The key that signed it, for example "APNs/TEAMID/KEYID".
    package var key: String
    package var token: String
    package var issuedAt: Timestamp
    /// Until when the push service wants no other token of this key (PROTOCOLS 1.6, TooManyProviderTokenUpdates); it may be
    /// past. nil: it never minded this one.
    package var pausedUntil: Timestamp?
    /// Which server wants that; nil: all of them.
    package var pausedBy: String?

    package init(
        key: String, token: String, issuedAt: Timestamp, pausedUntil: Timestamp? = nil, pausedBy: String? = nil
    ) {
        self.key = key
        self.token = token
        self.issuedAt = issuedAt
        self.pausedUntil = pausedUntil
        self.pausedBy = pausedBy
    }
}

package protocol ProviderTokenStore: Sendable {
    func providerToken(key: String) throws -> StoredProviderToken?
    func saveProviderToken(_ token: StoredProviderToken) throws
}
