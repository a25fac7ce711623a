// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements

/// A right that an API token can carry (CONTRACT, "right"). The raw values are on the wire.
package enum Scope: String, Sendable, Hashable, CaseIterable {
    case status
    case versions
    /// Reads people's data: telephones and push tokens. Changes and erases nothing.
    case users
    /// Registers and erases devices and users, and reads them too.
    case devices
    case campaigns

    /// Whether a holder of this scope may do what requires `other`.
    package func covers(_ other: Scope) -> Bool { self == other || self == .devices && other == .users }
}

/// An API token as the store keeps it. The secret is no part of it: the store has only its hash.
package struct AccessToken: Hashable, Sendable {
    package var name: String
    package var scopes: Set<Scope>
    /// The apps that it is bound to, on every platform; nil: all.
    package var apps: Set<String>?
    package var createdAt: Timestamp
    package var revokedAt: Timestamp?
    /// When it was last used, to the minute; nil: never, or only under an older release, which did not record this.
    package var usedAt: Timestamp?

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
    func addToken(_ token: AccessToken, hash: [UInt8], by actor: Principal) throws

    /// The token with this SHA-256, unless revoked.
    func token(hash: [UInt8]) throws -> AccessToken?

    func tokens() throws -> [AccessToken]

    func noteUse(ofToken hash: [UInt8], at now: Timestamp) throws

    /// Revokes a token; false when there is no such token or it is revoked already.
    func revokeToken(name: String, by actor: Signature) throws -> Bool
}

/// Provider tokens, each under the key that signed it, for example "APNs/TEAMID/KEYID". All relays that have the key
/// share its token.
package protocol ProviderTokenStore: Sendable {
    func providerToken(key: String) throws -> ProviderToken?

    /// Stores a token that was just signed in place of the one issued at `known`, where
    /// `ProviderTokenMachine.mayReplace` allows it. If several relays do so at once, one wins. Leaves the pause alone.
    ///
    /// - Parameter known: when the token to replace was issued; nil: there was none.
    /// - Returns: the token that is stored now. Where it differs from `token`, the caller uses the stored one.
    func mintProviderToken(
        _ token: ProviderToken, key: String, replacing known: Timestamp?, at now: Timestamp
    ) throws -> ProviderToken

    /// Stores a pause that a server asks for (`ProviderToken.pause`). Leaves the token alone.
    ///
    /// - Returns: false where nothing is stored under the key.
    func pauseProviderToken(key: String, until end: Timestamp, by server: String?, at now: Timestamp) throws -> Bool
}
